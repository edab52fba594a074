"""Which schedules of ours the algorithms of a campaign follow: ours themselves, a library's by the messages it sent."""

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
from timpani.study.columns import is_schedule_of_ours
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_columns, cell_of


@dataclass(frozen=True)
class Known:
    """An algorithm at one size.

    schedules       of ours, one of which it follows: several where their messages are the same
    off             |ln(predicted / measured)| of the worst of them: how far a library's own code is from our schedule;
                    0 of ours, whose error the calibration tells
    counted_on      the rank counts at which a library's messages were counted, and the schedules fit
    oversubscribed  whether there were more ranks than cores where that was measured
    """

    schedules: tuple[Algorithm, ...]
    off: float = 0.0
    counted_on: tuple[int, ...] = ()
    oversubscribed: bool = False

    def together(self, other: "Known") -> "Known | None":
        """Where messages that were counted twice are those of the same algorithm: the schedules that fit both; None
        where none does."""
        schedules = tuple(each for each in self.schedules if each in other.schedules)
        if not schedules:
            return None
        counted_on = tuple(sorted({*self.counted_on, *other.counted_on}))
        worse = max(self, other, key=lambda each: each.off)
        return Known(schedules, worse.off, counted_on, worse.oversubscribed)


KnownSchedules = dict[tuple[str, int], dict[Algorithm, Known]]
"""By collective and size."""


@dataclass(frozen=True)
class NoSchedule:
    """Why a counted algorithm has no known schedule at one size.

    why        in words
    by_counts  whether its messages, counted, tell that it follows none: another campaign can't tell otherwise
    """

    why: str
    by_counts: bool = False


Unknown = dict[tuple[str, int], dict[Algorithm, NoSchedule]]
"""By collective and size."""


def schedules_of_ours(campaign: Campaign, own: Catalogue) -> KnownSchedules:
    """Of each algorithm of ours that was measured."""
    found: KnownSchedules = {}
    measured = campaign.of_default_variant.results.filter(is_schedule_of_ours(), pl.col("error").is_null())
    columns = ("collective", "message_bytes", "provider", "algorithm", "parameters")
    for collective, size, provider, name, parameters in measured.select(columns).unique().sort(columns).iter_rows():
        algorithm = Algorithm(provider, name, parse_parameters(parameters))
        if own.info(collective, algorithm) is not None:
            found.setdefault((collective, size), {})[algorithm] = Known((algorithm,))
    return found


def schedules_of_library(
    campaign: Campaign, own: Catalogue, simulator: Simulator, calibration: Calibration
) -> tuple[KnownSchedules, Unknown]:
    """Of the default and of the library's other algorithms, where their messages on the two largest rank counts that
    were counted are those of one schedule; and why others that were counted have none.

    A default that was counted at one rank count is not known: nothing tells whether it does the same on others.
    """
    found: KnownSchedules = {}
    unknown: Unknown = {}
    fingerprints = Fingerprints(simulator, own)
    campaign = campaign.of_default_variant
    element_bytes = campaign.header.study.element_bytes_of
    places = places_of(campaign)
    cells = {tuple(row[name] for name in _KEY): row for row in estimate_cells(campaign.raced).to_dicts()}
    for counted in _most_ranks(campaign):
        cell = counted[0][0]
        names = [fingerprints.name(proof, element_bytes(cell.collective), every_value=True) for _, proof in counted]
        estimate = cells.get(tuple(cell_columns(cell)[column] for column in _KEY), {})
        measured = estimate.get("median_us")
        shared = [each for each in names[0].algorithms if each in names[-1].algorithms]
        why = unknown.setdefault((cell.collective, cell.message_bytes), {})
        if any(name.match is not Match.messages for name in names):
            why[cell.algorithm] = NoSchedule("its messages were those of no schedule of ours", by_counts=True)
            continue
        if not shared:
            why[cell.algorithm] = NoSchedule(
                "its messages were those of different schedules on two rank counts", by_counts=True
            )
            continue
        if not measured:
            why[cell.algorithm] = NoSchedule("its time was not measured, only its messages")
            continue
        if cell.algorithm.is_default and len(counted) < 2:
            why[cell.algorithm] = NoSchedule("it was counted on one rank count alone")
            continue
        schedules = tuple(with_whole_messages(own, cell.collective, each) for each in shared)
        place = places.get((cell.ranks, cell.placement), ())
        calls = [
            call_of(
                {**cell_columns(cell), "algorithm": each.name, "parameters": each.parameter_text},
                element_bytes(cell.collective),
                place,
            )
            for each in schedules
        ]
        predicted = predict(simulator, calibration, calls)
        if refused := next((each for each in predicted if isinstance(each, NotSimulated)), None):
            why[cell.algorithm] = NoSchedule(refused.why)
            continue
        off = [abs(float(np.log(each.time / measured))) for each in predicted if isinstance(each, PredictedTime)]
        counted_on = tuple(sorted(each.ranks for each, _ in counted))
        oversubscribed = "oversubscribed" in estimate["status"].split("+")
        known = Known(schedules, max(off), counted_on, oversubscribed)
        found.setdefault((cell.collective, cell.message_bytes), {})[cell.algorithm] = known
    return found, unknown


_KEY = ("collective", "provider", "algorithm", "parameters", "ranks", "placement", "message_bytes", "mode")


def _most_ranks(campaign: Campaign) -> Iterator[list[tuple[Cell, dict[str, object]]]]:
    """Of each algorithm of the library and size the counted cells of the two largest rank counts, with their proofs,
    the larger first."""
    found: dict[tuple[str, int, Algorithm], dict[int, tuple[Cell, dict[str, object]]]] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        library = cell.algorithm.provider == campaign.header.mpi.kind and not is_under_files(cell.algorithm.name)
        if library and cell.collective in COLLECTIVES:
            key = (cell.collective, cell.message_bytes, cell.algorithm)
            found.setdefault(key, {})[cell.ranks] = (cell, proof)
    for by_ranks in found.values():
        yield [by_ranks[ranks] for ranks in sorted(by_ranks, reverse=True)[:2]]
