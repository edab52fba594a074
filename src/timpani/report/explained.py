"""What a library would choose by a tuning file, by collective and size."""

from collections.abc import Iterator
from itertools import groupby
from math import ceil

from timpani.libraries.tuning_file import Choice
from timpani.study.counted import counted
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.tuning.table import Call

_SIZES = tuple(2**power for power in range(31))
_DEFAULT = "the library's own choice"


def explained(choice: Choice, ranks: int, nodes: int) -> Iterator[str]:
    """A line for each run of sizes with one algorithm; sizes are looked at in powers of two."""
    per_node = ceil(ranks / nodes)
    yield f"{counted(ranks, 'rank')} on {counted(nodes, 'node')}; sizes as `timpani list operations` counts them"
    for collective, operation in COLLECTIVES.items():
        sizes = _SIZES if operation.sized else _SIZES[:1]
        chosen = [(choice.decide(Call(collective, ranks, nodes, per_node, size)), size) for size in sizes]
        if all(algorithm is None for algorithm, _ in chosen):
            yield f"{collective:22} {'all sizes':24} {_DEFAULT}"
            continue
        for algorithm, run in groupby(chosen, key=lambda each: each[0]):
            of_run = [size for _, size in run]
            span = show_size(of_run[0])
            if of_run[-1] == sizes[-1]:
                span = "all sizes" if of_run[0] == sizes[0] else f"{span} and more"
            elif len(of_run) > 1:
                span = f"{span} to {show_size(of_run[-1])}"
            yield f"{collective:22} {span:24} {algorithm or _DEFAULT}"
