"""A library's algorithms as schedules of Timpani, identified by their counted messages."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from timpani.campaign.folder.load import Campaign
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.registry import LIBRARIES
from timpani.prediction.calibration import Calibration
from timpani.prediction.known_schedules import KnownSchedule, NoSchedule, library_schedules
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
    """The library algorithms with a known schedule, and why others have none.

    A schedule is known at the counted sizes, and between two counted sizes with the same schedule. The default has
    none:
    its algorithm may change with the rank count.
    """
    found: list[SelectedAlgorithm] = []
    left_out: list[NotPredicted] = []
    counted = _counted_schedules(campaigns, own, simulator, calibration)
    for collective in dict.fromkeys(collectives):
        of_collective = {algorithm: by_size for (name, algorithm), by_size in counted.items() if name == collective}
        if not of_collective:
            left_out.append(NotPredicted(collective, None, _reason_not_counted(campaigns)))
        for algorithm, by_size in of_collective.items():
            if algorithm.is_default:
                why = "its algorithm may change with the rank count"
                left_out.append(NotPredicted(collective, algorithm, why))
                continue
            named, unknown = _selected(collective, algorithm, by_size, sizes_of(collective, sizes), own)
            found += named
            left_out += unknown
    return found, left_out


def _reason_not_counted(campaigns: Sequence[Campaign]) -> str:
    libraries = [LIBRARIES[kind] for each in campaigns if (kind := each.header.mpi.kind) in LIBRARIES]
    if any(each.algorithms.counting for each in libraries):
        return "its messages were not counted; `timpani run … --prove` counts them"
    names = ", ".join(sorted({each.name for each in libraries})) or "an imported campaign"
    return f"{names} can't count messages, so the schedule is unknown"


def _counted_schedules(
    campaigns: Sequence[Campaign], own: Catalogue, simulator: Simulator, calibration: Calibration
) -> dict[tuple[str, Algorithm], dict[int, KnownSchedule | NoSchedule]]:
    """The schedule of each counted algorithm and size, or why it is unknown."""
    found: dict[tuple[str, Algorithm], dict[int, KnownSchedule | NoSchedule]] = {}
    for campaign in campaigns:
        for (collective, size), algorithms in library_schedules(campaign, own, simulator, calibration).items():
            for algorithm, result in algorithms.items():
                by_size = found.setdefault((collective, algorithm), {})
                by_size[size] = together(by_size[size], result) if size in by_size else result
    return found


def together(one: KnownSchedule | NoSchedule, other: KnownSchedule | NoSchedule) -> KnownSchedule | NoSchedule:
    """Combine the results of two campaigns, in either order.

    A schedule replaces a missing result, but not a count that matches no schedule.
    """
    if isinstance(one, KnownSchedule) and isinstance(other, KnownSchedule):
        different = NoSchedule("its messages match different schedules in two campaigns", by_counts=True)
        return one.together(other) or different
    return max(one, other, key=_precedence)


def _precedence(result: KnownSchedule | NoSchedule) -> int:
    return 1 if isinstance(result, KnownSchedule) else 2 if result.by_counts else 0


def _selected(
    collective: str,
    algorithm: Algorithm,
    counted: Mapping[int, KnownSchedule | NoSchedule],
    sizes: Sequence[int],
    own: Catalogue,
) -> tuple[list[SelectedAlgorithm], list[NotPredicted]]:
    """An entry for each set of schedules that the algorithm may follow at some of the sizes."""
    by_schedules: dict[tuple[Algorithm, ...], list[tuple[int, KnownSchedule]]] = {}
    unknown: dict[str, list[int]] = {}
    for size in sizes:
        nearest = _neighbors(counted, size)
        known = [each for each in nearest if isinstance(each, KnownSchedule)]
        if not nearest:
            unknown.setdefault(f"its messages were counted at {show_sizes(sorted(counted))} only", []).append(size)
        elif why := next((each.why for each in nearest if isinstance(each, NoSchedule)), None):
            unknown.setdefault(why, []).append(size)
        elif (both := known[0].together(known[-1])) is None:
            unknown.setdefault("its messages match one schedule below and another above", []).append(size)
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


def _neighbors(counted: Mapping[int, KnownSchedule | NoSchedule], size: int) -> list[KnownSchedule | NoSchedule]:
    """Results at this size, or at the next smaller and the next larger counted size; empty if one of these is
    missing."""
    if size in counted:
        return [counted[size]]
    known = sorted(counted)
    below, above = bisect_left(known, size), bisect_right(known, size)
    return [counted[known[below - 1]], counted[known[above]]] if below > 0 and above < len(known) else []
