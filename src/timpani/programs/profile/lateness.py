"""How late ranks enter a program's collectives, and how well this repeats."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, pvariance

from timpani.programs.profile.profile_lines import LatenessLine, ProfilePart


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
