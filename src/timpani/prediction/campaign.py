"""Predicts Timpani's algorithms in a campaign, with costs from this campaign or another."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign, check_one_machine, load_one_machine
from timpani.campaign.read.cell_table import estimate_cells
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.prediction.calibration import Calibration, calibrate, require_calibration
from timpani.prediction.observed import call_of, places_of
from timpani.prediction.times import predicted_times
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Simulator
from timpani.study.schema import is_timpani_schedule


@dataclass(frozen=True)
class Prediction:
    """times: of `predicted_times`; left_out: cells without a prediction, with the reason.

    from_others  each algorithm was predicted from the campaign's other algorithms
    """

    times: pl.DataFrame
    calibration: Calibration
    from_others: bool
    left_out: list[str]


def predict_campaign(campaign: Campaign, costs_from: Path | None) -> Prediction | None:
    """The prediction of `campaign`; None where it has no Timpani algorithm, or no measured costs.

    `costs_from` is another campaign to take the costs from. UserError if it has none, if a campaign is of several
    machines, and if the simulator can't be built. The simulator doesn't depend on the MPI library.
    """
    cells = estimate_cells(campaign.of_variant().raced).filter(is_timpani_schedule())
    if cells.is_empty():
        return None
    check_one_machine(campaign)
    mpi = first_mpi()
    simulator = Simulator(build_without_mpi(mpi))
    if costs_from is None:
        found = calibrate(simulator, [campaign])
    else:
        found = require_calibration(simulator, [load_one_machine(costs_from)])
    if found is None:
        return None
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    # Costs that are the same for all pairs of ranks can't distinguish near ranks from far ones.
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
