"""How late ranks enter a program's collectives: how well this repeats, and whether to measure with it."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, pvariance

from timpani.programs.profile.profile_lines import LatenessLine, ProfilePart
from timpani.programs.profile.profiled_points import ProfiledPoint
from timpani.study.arrival import recorded_pattern, recorded_source
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

REPEATS = 0.5
"""Lateness repeats if the ranks' means explain at least this share of its variance."""

_MAX_NAMED = 3


@dataclass(frozen=True)
class CallLateness:
    """The lateness of all ranks in calls of one collective, size class and list of ranks.

    lines  of each rank, by its number in MPI_COMM_WORLD
    """

    lines: tuple[LatenessLine, ...]

    @property
    def kind(self) -> tuple[str, int, int]:
        """Collective, ranks and size class."""
        return self.lines[0].name, self.lines[0].ranks, self.lines[0].size_class

    @property
    def spread_ns(self) -> float:
        """From the mean entry of the first rank to that of the last one."""
        means = [line.mean_ns for line in self.lines]
        return max(means) - min(means)

    @property
    def in_calls(self) -> float:
        """The spread as a multiple of the mean time from the last entry to the last exit."""
        return self.spread_ns / max(1.0, fmean(line.completion_ns for line in self.lines))

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


def lateness_by_kind(part: ProfilePart) -> dict[tuple[str, int, int], CallLateness]:
    """By collective, rank count and size class: of several lists of ranks the one with most calls."""
    found: dict[tuple[str, int, int], CallLateness] = {}
    for each in call_lateness(part):
        found.setdefault(each.kind, each)
    return found


def lateness_advice(part: ProfilePart, points: Iterable[ProfiledPoint], arrival: str) -> Iterator[str]:
    """Whether to measure the `points` with the recorded lateness, a sentence or none.

    Timpani advises, and does not choose: algorithms chosen for late ranks were up to 80 % slower where ranks enter
    together (docs/notebook/arrival.md). So the lateness has to repeat, and to be as long as the call. The collective
    has to have a root: in simulations no choice for an allreduce changed with the lateness.
    """
    wanted = {(point.collective, point.ranks, point.size_class) for point in points}
    known = [each for kind, each in lateness_by_kind(part).items() if kind in wanted]
    found = [(each, share) for each in known if (share := each.repeated_share) is not None]
    if recorded_source(arrival):
        if varying := [_description(each, share) for each, share in found if share < REPEATS]:
            yield (
                f"lateness hardly repeats in {_listed(varying)}: an algorithm chosen for it may be slower in most "
                "calls; leave out --arrival"
            )
        return
    rooted = [(each, share) for each, share in found if COLLECTIVES[each.lines[0].name].takes["root"]]
    late = [(each, share) for each, share in rooted if share >= REPEATS and each.in_calls >= 1]
    if late:
        pattern = shlex.quote(recorded_pattern(str(part.path.parent)))
        named = _listed(_description(*each) for each in late)
        yield f"the same ranks are late in {named}: --arrival {pattern} measures with this lateness"


def _description(each: CallLateness, share: float) -> str:
    name, ranks, size_class = each.kind
    size = "" if size_class < 0 else f" from {show_size((1 << size_class) >> 1)}"
    return (
        f"{name} on {counted(ranks, 'rank')}{size} (repeats {per_cent(share)}, {each.in_calls:.2g} × the call's own "
        "time)"
    )


def _listed(named: Iterable[str]) -> str:
    all_named = list(named)
    further = [f"{len(all_named) - _MAX_NAMED} further kinds of calls"] if len(all_named) > _MAX_NAMED else []
    return ", ".join([*all_named[:_MAX_NAMED], *further])
