"""Which of Timpani's schedules the algorithms of a campaign follow; for a library's algorithm, by its messages."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cell_table import estimate_cells
from timpani.libraries.catalogue import Catalogue
from timpani.prediction.calibration import Calibration
from timpani.prediction.observed import call_of, places_of
from timpani.prediction.predictions import PredictedTime, predict
from timpani.schedules.fingerprint import Fingerprints, Match, with_whole_messages
from timpani.schedules.simulation import NotSimulated, Simulator
from timpani.study.cell import Algorithm, Cell, is_under_files, parse_parameters
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_columns, cell_of, is_timpani_schedule


@dataclass(frozen=True)
class KnownSchedule:
    """An algorithm's schedule at one size.

    schedules       the possible schedules of Timpani; several if they send the same messages
    off             largest |ln(predicted / measured)| of these: error of replacing the library's code by Timpani's
                    schedule; 0 for Timpani's own algorithms, whose error the calibration gives
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
        worse = max(self, other, key=lambda each: each.off)
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
    cells = {tuple(row[name] for name in _KEY): row for row in estimate_cells(campaign.raced).to_dicts()}

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
        off = [abs(float(np.log(each.time / measured))) for each in predicted if isinstance(each, PredictedTime)]
        counted_on = tuple(sorted(each.ranks for each, _ in counted))
        return KnownSchedule(schedules, max(off), counted_on, "oversubscribed" in estimate["status"].split("+"))

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
