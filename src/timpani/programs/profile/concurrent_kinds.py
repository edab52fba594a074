"""Collectives of a program that ran at the same time on different communicators, by their kinds."""

from collections import defaultdict
from dataclasses import dataclass

from timpani.programs.profile.profile_lines import ConcurrentLine, KindLine, ProfilePart


@dataclass(frozen=True)
class ConcurrentKinds:
    """Calls of two kinds that ran at the same time, on different lists of ranks. A call runs from its last entry to its
    last exit.

    one, other     a line of each kind; they may be of one kind, as of the rows of a process grid
    pairs          sampled calls that ran at the same time
    seconds        that two calls ran at the same time, summed over all pairs of calls
    error_seconds  half-width of its 95 % interval from sampling
    at_once        mean number of calls of `other` that run while a call of `one` does, as far as they were compared
    """

    one: KindLine
    other: KindLine
    pairs: int
    seconds: float
    error_seconds: float
    at_once: float


def concurrent_kinds(part: ProfilePart) -> list[ConcurrentKinds]:
    """The pairs of kinds of which sampled calls ran at the same time, those first that did so longest."""
    strata = {line.stratum: line for line in part.lateness}
    kinds = {stratum: KindLine.model_validate(line.model_dump()) for stratum, line in strata.items()}
    running = defaultdict[KindLine, float](float)
    for stratum, kind in kinds.items():
        running[kind] += strata[stratum].completion_ns * strata[stratum].calls
    found: dict[tuple[KindLine, KindLine], list[ConcurrentLine]] = defaultdict(list)
    for pair in part.concurrent:
        one, other = kinds[pair.stratum], kinds[pair.other]
        found[(other, one) if (other, one) in found else (one, other)].append(pair)
    pairs = [_pair(*both, lines, running[both[0]]) for both, lines in found.items()]
    return sorted(pairs, key=lambda each: -each.seconds)


def has_several_communicators(part: ProfilePart) -> bool:
    """Whether the sampled calls are of several sets of ranks."""
    ranks = defaultdict[str, set[int]](set)
    for line in part.lateness:
        ranks[line.stratum].add(line.rank)
    return len({frozenset(each) for each in ranks.values()}) > 1


def _pair(one: KindLine, other: KindLine, lines: list[ConcurrentLine], running_ns: float) -> ConcurrentKinds:
    ns = sum(line.ns for line in lines)
    return ConcurrentKinds(
        one=one,
        other=other,
        pairs=sum(line.pairs for line in lines),
        seconds=ns / 1e9,
        error_seconds=sum(line.error_ns for line in lines) / 1e9,  # the same calls are sampled in all
        at_once=(2 if one == other else 1) * ns / running_ns if running_ns > 0 else 0.0,
    )
