"""Which of Timpani's schedules the algorithms of a campaign follow; for a library's algorithm, by its messages."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.registry import LIBRARIES
from timpani.schedules.algorithms.fingerprint import Fingerprints, Match, with_whole_messages
from timpani.schedules.algorithms.simulation import NotSimulated, Simulator
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.observed import call_of, places_of
from timpani.schedules.predict.predictions import PredictedTime, predict
from timpani.schedules.predict.selected_algorithms import NotPredicted, Schedule, SelectedAlgorithm, sizes_of
from timpani.study.cell import Algorithm, Cell, is_under_files, parse_parameters
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_columns, cell_of, is_timpani_schedule
from timpani.study.sizes import show_sizes


@dataclass(frozen=True)
class KnownSchedule:
    """An algorithm's schedule at one size.

    schedules       the possible schedules of Timpani; several if they send the same messages
    off             ln(measured / predicted) at the largest counted rank count, of the library's code by Timpani's
                    schedule: predictions are multiplied by this ratio; 0 for Timpani's own algorithms
    counted_on      the rank counts at which the library's messages were counted and match
    oversubscribed  whether there were more ranks than cores in these measurements
    """

    schedules: tuple[Algorithm, ...]
    off: float = 0.0
    counted_on: tuple[int, ...] = ()
    oversubscribed: bool = False

    def together(self, other: "KnownSchedule") -> "KnownSchedule | None":
        """Combine two counts of one algorithm: the schedules that match both; None if no schedule does."""
        schedules = tuple(each for each in self.schedules if each in other.schedules)
        if not schedules:
            return None
        counted_on = tuple(sorted({*self.counted_on, *other.counted_on}))
        worse = max(self, other, key=lambda each: abs(each.off))
        return KnownSchedule(schedules, worse.off, counted_on, worse.oversubscribed)


SchedulesBySize = dict[tuple[str, int], dict[Algorithm, KnownSchedule]]
"""By collective and size."""


@dataclass(frozen=True)
class NoSchedule:
    """Why a library's algorithm has no known schedule at one size.

    why        the reason, for messages
    by_counts  whether its counted messages match no schedule, so that another campaign can't change that
    """

    why: str
    by_counts: bool = False


LibrarySchedules = dict[tuple[str, int], dict[Algorithm, KnownSchedule | NoSchedule]]
"""By collective and size."""


def timpani_schedules(campaign: Campaign, own: Catalogue) -> SchedulesBySize:
    """The schedule of each Timpani algorithm in the campaign."""
    found: SchedulesBySize = {}
    measured = campaign.of_variant().results.filter(is_timpani_schedule(), pl.col("error").is_null())
    columns = ("collective", "message_bytes", "provider", "algorithm", "parameters")
    for collective, size, provider, name, parameters in measured.select(columns).unique().sort(columns).iter_rows():
        algorithm = Algorithm(provider, name, parse_parameters(parameters))
        if own.info(collective, algorithm) is not None:
            found.setdefault((collective, size), {})[algorithm] = KnownSchedule((algorithm,))
    return found


def library_schedules(
    campaign: Campaign, own: Catalogue, simulator: Simulator, calibration: Calibration
) -> LibrarySchedules:
    """The schedules of the library's algorithms and its default, or why they have none.

    An algorithm has a schedule if its messages match it at the two largest counted rank counts. The default needs two
    counts, as it may change its algorithm with the rank count.
    """
    fingerprints = Fingerprints(simulator, own)
    campaign = campaign.of_variant()
    element_bytes = campaign.header.study.element_bytes_of
    places = places_of(campaign)
    cells = {tuple(row[name] for name in _KEY): row for row in estimate_cells(raced_results(campaign)).to_dicts()}

    def schedule_of(counted: list[_CountedCell]) -> KnownSchedule | NoSchedule:
        cell = counted[0][0]
        names = [fingerprints.name(proof, element_bytes(cell.collective), every_value=True) for _, proof in counted]
        estimate = cells.get(tuple(cell_columns(cell)[column] for column in _KEY), {})
        measured = estimate.get("median_us")
        shared = [each for each in names[0].algorithms if each in names[-1].algorithms]
        if any(name.match is not Match.messages for name in names):
            return NoSchedule("its messages match no schedule of Timpani", by_counts=True)
        if not shared:
            return NoSchedule("its messages match different schedules on two rank counts", by_counts=True)
        if not measured:
            return NoSchedule("its messages were counted, but its time was not measured")
        if cell.algorithm.is_default and len(counted) < 2:
            return NoSchedule("its messages were counted on one rank count only")
        schedules = tuple(with_whole_messages(own, cell.collective, each) for each in shared)
        place = places.get((cell.ranks, cell.placement), ())
        rows = ({**cell_columns(cell), "algorithm": each.name, "parameters": each.parameter_text} for each in schedules)
        predicted = predict(
            simulator, calibration, [call_of(row, element_bytes(cell.collective), place) for row in rows]
        )
        if refused := next((each for each in predicted if isinstance(each, NotSimulated)), None):
            return NoSchedule(refused.why)
        times = [each.time for each in predicted if isinstance(each, PredictedTime)]
        off = float(np.log(measured / np.sqrt(min(times) * max(times))))
        counted_on = tuple(sorted(each.ranks for each, _ in counted))
        return KnownSchedule(schedules, off, counted_on, "oversubscribed" in estimate["status"].split("+"))

    found: LibrarySchedules = {}
    for counted in _largest_rank_counts(campaign):
        cell = counted[0][0]
        found.setdefault((cell.collective, cell.message_bytes), {})[cell.algorithm] = schedule_of(counted)
    return found


_KEY = ("collective", "provider", "algorithm", "parameters", "ranks", "placement", "message_bytes", "mode", "arrival")

_CountedCell = tuple[Cell, dict[str, object]]


def _largest_rank_counts(campaign: Campaign) -> Iterator[list[_CountedCell]]:
    """The cells of the two largest counted rank counts with their counts, the larger first, for each algorithm and
    size."""
    found: dict[tuple[str, int, Algorithm], dict[int, _CountedCell]] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        library = cell.algorithm.provider == campaign.header.mpi.kind and not is_under_files(cell.algorithm.name)
        if library and cell.collective in COLLECTIVES:
            key = (cell.collective, cell.message_bytes, cell.algorithm)
            found.setdefault(key, {})[cell.ranks] = (cell, proof)
    for by_ranks in found.values():
        yield [by_ranks[ranks] for ranks in sorted(by_ranks, reverse=True)[:2]]


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
