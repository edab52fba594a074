"""Which parameters of an algorithm a race measures: values far apart first, then neighbours of the best.

What varies is measured as what it is, an algorithm among others; this says which of them take part at a point so far.
A best value between two coarse ones, both of which are much worse than it, is missed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from timpani.study.cell import Algorithm

COARSE = 4
"""Of the values of a parameter in order, one in so many takes part from the beginning, and the last."""

WORTH_REFINING = 0.1
"""What the best values of an algorithm may seem to take longer than the fastest one, for their neighbours to be
measured too."""


def starting(algorithms: Sequence[Algorithm]) -> frozenset[Algorithm]:
    """Those that a race begins with: of each algorithm the one without parameters, and coarse values of each
    parameter."""
    coarse: dict[tuple[str, str, str], set[int]] = {}
    for key, values in _values(algorithms).items():
        coarse[key] = {*values[::COARSE], values[-1]}
    return frozenset(
        each
        for each in algorithms
        if all(value in coarse[each.provider, each.name, name] for name, value in each.parameters)
    )


def neighbours(algorithms: Sequence[Algorithm], excess: Mapping[Algorithm, float]) -> frozenset[Algorithm]:
    """Those of `algorithms` whose parameters are next to the best of their algorithm, where that is worth it.

    excess  by how much longer each that was measured seems to take than the fastest, as a share
    """
    best: dict[tuple[str, str], Algorithm] = {}
    for each in sorted(excess, key=lambda each: excess[each]):
        if excess[each] <= WORTH_REFINING:
            best.setdefault((each.provider, each.name), each)
    return frozenset(near for each in best.values() for near in _next_to(each, algorithms))


def _next_to(algorithm: Algorithm, algorithms: Sequence[Algorithm]) -> Iterator[Algorithm]:
    """One parameter has the next smaller or larger value, all others are the same."""
    own = dict(algorithm.parameters)
    for name, value in own.items():
        varied = {
            dict(each.parameters)[name]: each
            for each in algorithms
            if (each.provider, each.name) == (algorithm.provider, algorithm.name)
            and {**dict(each.parameters), name: value} == own
        }
        values = sorted(varied)
        here = values.index(value)
        yield from (varied[other] for other in (*values[:here][-1:], *values[here + 1 :][:1]))


def _values(algorithms: Iterable[Algorithm]) -> dict[tuple[str, str, str], list[int]]:
    """Of each algorithm's each parameter the values, ascending."""
    found: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
    for each in algorithms:
        for name, value in each.parameters:
            found[each.provider, each.name, name].add(value)
    return {key: sorted(values) for key, values in found.items()}
