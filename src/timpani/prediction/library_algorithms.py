"""A library's algorithms as schedules of ours: those that its messages, counted, were named by."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain

from timpani.campaign.folder.load import Campaign
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.registry import LIBRARIES
from timpani.prediction.calibration import Calibration
from timpani.prediction.known_schedules import Known, NoSchedule, schedules_of_library
from timpani.prediction.selected_algorithms import NotPredicted, Schedule, SelectedAlgorithm, sizes_of
from timpani.schedules.simulation import Simulator
from timpani.study.cell import Algorithm
from timpani.study.sizes import show_sizes


def library_algorithms(
    campaigns: Sequence[Campaign],
    collectives: Sequence[str],
    sizes: Sequence[int],
    own: Catalogue,
    simulator: Simulator,
    calibration: Calibration,
) -> tuple[list[SelectedAlgorithm], list[NotPredicted]]:
    """The algorithms of the campaigns' libraries whose schedule is known, and why others' isn't.

    A schedule is known at sizes at which messages were counted, and between two of them where it is the same. The
    default has none: which algorithm it takes may change with the rank count.
    """
    found: list[SelectedAlgorithm] = []
    left_out: list[NotPredicted] = []
    counted = _counted(campaigns, own, simulator, calibration)
    for collective in dict.fromkeys(collectives):
        of_collective = {algorithm: by_size for (name, algorithm), by_size in counted.items() if name == collective}
        if not of_collective:
            left_out.append(NotPredicted(collective, None, _why_not_counted(campaigns)))
        for algorithm, by_size in of_collective.items():
            if algorithm.is_default:
                why = "which algorithm it takes may change with the rank count"
                left_out.append(NotPredicted(collective, algorithm, why))
                continue
            named, unknown = _named(collective, algorithm, by_size, sizes_of(collective, sizes), own)
            found += named
            left_out += unknown
    return found, left_out


def _why_not_counted(campaigns: Sequence[Campaign]) -> str:
    libraries = [LIBRARIES[kind] for each in campaigns if (kind := each.header.mpi.kind) in LIBRARIES]
    if any(each.counting for each in libraries):
        return "none of its messages were counted; `timpani run … --prove` does"
    names = ", ".join(sorted({each.name for each in libraries})) or "what was imported"
    return f"{names} can't count messages, which would name its schedule"


def _counted(
    campaigns: Sequence[Campaign], own: Catalogue, simulator: Simulator, calibration: Calibration
) -> dict[tuple[str, Algorithm], dict[int, Known | NoSchedule]]:
    """Of each counted algorithm and size the schedule, or why it is not known."""
    found: dict[tuple[str, Algorithm], dict[int, Known | NoSchedule]] = {}
    for campaign in campaigns:
        known, unknown = schedules_of_library(campaign, own, simulator, calibration)
        tables: tuple[Mapping[tuple[str, int], Mapping[Algorithm, Known | NoSchedule]], ...] = (unknown, known)
        for (collective, size), algorithms in chain.from_iterable(table.items() for table in tables):
            for algorithm, told in algorithms.items():
                by_size = found.setdefault((collective, algorithm), {})
                by_size[size] = together(by_size[size], told) if size in by_size else told
    return found


def together(one: Known | NoSchedule, other: Known | NoSchedule) -> Known | NoSchedule:
    """What two campaigns tell, in either order: a schedule stands where the other couldn't tell, but not where the
    messages counted there were of none."""
    if isinstance(one, Known) and isinstance(other, Known):
        different = NoSchedule("its messages were those of different schedules in two campaigns", by_counts=True)
        return one.together(other) or different
    return max(one, other, key=_certainty)


def _certainty(told: Known | NoSchedule) -> int:
    return 1 if isinstance(told, Known) else 2 if told.by_counts else 0


def _named(
    collective: str,
    algorithm: Algorithm,
    counted: Mapping[int, Known | NoSchedule],
    sizes: Sequence[int],
    own: Catalogue,
) -> tuple[list[SelectedAlgorithm], list[NotPredicted]]:
    """An entry for each choice of schedules that one algorithm may follow at some of the sizes."""
    by_schedules: dict[tuple[Algorithm, ...], list[tuple[int, Known]]] = {}
    unknown: dict[str, list[int]] = {}
    for size in sizes:
        beside = _beside(counted, size)
        known = [each for each in beside if isinstance(each, Known)]
        if not beside:
            unknown.setdefault(f"its messages were counted at {show_sizes(sorted(counted))} alone", []).append(size)
        elif why := next((each.why for each in beside if isinstance(each, NoSchedule)), None):
            unknown.setdefault(why, []).append(size)
        elif (both := known[0].together(known[-1])) is None:
            unknown.setdefault("its messages were those of one schedule below and of another above", []).append(size)
        else:
            by_schedules.setdefault(both.schedules, []).append((size, both))
    found: list[SelectedAlgorithm] = []
    for schedules, at in by_schedules.items():
        infos = [own.info(collective, each) for each in schedules]
        found.append(
            SelectedAlgorithm(
                collective,
                tuple(Schedule(each, info) for each, info in zip(schedules, infos, strict=True) if info),
                algorithm,
                tuple((size, each.off) for size, each in at),
                tuple(sorted({ranks for _, each in at for ranks in each.counted_on})),
                any(each.oversubscribed for _, each in at),
            )
        )
    return found, [NotPredicted(collective, algorithm, why, tuple(sizes)) for why, sizes in unknown.items()]


def _beside(counted: Mapping[int, Known | NoSchedule], size: int) -> list[Known | NoSchedule]:
    """What was counted at this size, or at the nearest smaller and the nearest larger one; nothing without both."""
    if size in counted:
        return [counted[size]]
    known = sorted(counted)
    below, above = bisect_left(known, size), bisect_right(known, size)
    return [counted[known[below - 1]], counted[known[above]]] if below > 0 and above < len(known) else []
