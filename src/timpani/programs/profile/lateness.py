"""How late ranks enter a program's collectives, and how well this repeats."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, pvariance

from timpani.programs.profile.profile_lines import ConcurrentLine, KindLine, LatenessLine, ProfilePart


@dataclass(frozen=True)
class CallLateness:
    """The lateness of all ranks in calls of one collective, size class and list of ranks.

    lines  of each rank, by its number in MPI_COMM_WORLD
    """

    lines: tuple[LatenessLine, ...]

    @property
    def repeated_share(self) -> float | None:
        """The share of the variance of lateness that the ranks' means explain: 1 if each rank is equally late in each
        call, 0 if all ranks have the same mean.

        An analysis of variance with ranks as groups; the part of the means' variance that comes from n sampled calls
        is subtracted. None of fewer than two calls, and where no lateness varies.
        """
        sampled, ranks = min(line.sampled for line in self.lines), len(self.lines)
        if sampled < 2:
            return None
        within = fmean(line.deviation_ns**2 for line in self.lines) * sampled / (sampled - 1)
        between = pvariance(line.mean_ns for line in self.lines) - within / sampled * (ranks - 1) / ranks
        total = max(0.0, between) + within
        return max(0.0, between) / total if total else None


def call_lateness(part: ProfilePart) -> list[CallLateness]:
    """The kinds of calls whose lateness is known of all ranks, those with most calls first."""
    strata: dict[str, list[LatenessLine]] = defaultdict(list)
    for line in part.lateness:
        strata[line.stratum].append(line)
    whole = [lines for lines in strata.values() if len(lines) == lines[0].ranks]
    found = [CallLateness(tuple(sorted(lines, key=lambda line: line.rank))) for lines in whole]
    return sorted(found, key=lambda each: -each.lines[0].calls)


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
