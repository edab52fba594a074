"""The prediction of a campaign: our algorithms in it, by the costs that it or another measured."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.cell_table import estimate_cells
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.prediction.calibration import Calibration, calibrate, calibrated
from timpani.prediction.observed import call_of, places_of
from timpani.prediction.times import predicted_times
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Simulator
from timpani.study.columns import is_schedule_of_ours


@dataclass(frozen=True)
class Prediction:
    """times: of `predicted_times`; left_out: what could not be predicted, and why.

    from_others  the campaign's own algorithms told the costs: each was predicted from the others
    """

    times: pl.DataFrame
    calibration: Calibration
    from_others: bool
    left_out: list[str]


def predict_campaign(campaign: Campaign, costs_from: Path | None) -> Prediction | None:
    """The prediction of `campaign`; None where it has no algorithm of ours, or nothing tells costs.

    `costs_from` is another campaign that tells the costs in place of this one. UserError when it tells none, and where
    nothing is here to build the simulator with; it is built if need be, for any MPI, and uses none.
    """
    cells = estimate_cells(campaign.of_default_variant.raced).filter(is_schedule_of_ours())
    if cells.is_empty():
        return None
    mpi = first_mpi()
    simulator = Simulator(build_without_mpi(mpi))
    found = calibrate(simulator, [campaign]) if costs_from is None else calibrated(simulator, [load(costs_from)])
    if found is None:
        return None
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    # Costs that are the same for all pairs can't tell near ranks and far ones apart.
    apart = [] if found.relations else [(i.collective, i.name) for i in own_catalogue(mpi) if i.restrictions.topology]
    times, left_out = predicted_times(
        cells,
        found,
        simulator,
        lambda row: call_of(row, element_bytes(row["collective"]), places.get((row["ranks"], row["placement"]), ())),
        apart,
        from_others=costs_from is None,
    )
    from_others = costs_from is None and found.error is not None
    return Prediction(times, found, from_others, left_out) if times.height or left_out else None
