"""The prediction of a campaign: our algorithms in it, simulated with the costs that it or another measured."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from timpani.campaign.load import Campaign, load
from timpani.campaign.table import estimate_cells
from timpani.errors import UserError
from timpani.libraries.find import choose_mpi
from timpani.models.fit import Fit, fit
from timpani.native.build import build
from timpani.prediction.costs import point_to_point_costs
from timpani.prediction.times import predicted_times
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Costs, Simulator
from timpani.study.columns import is_schedule_of_ours


@dataclass(frozen=True)
class Prediction:
    """times: of `predicted_times`, under `costs`; left_out: what could not be predicted, and why."""

    times: pl.DataFrame
    costs: Costs
    left_out: list[str]


def predict_campaign(campaign: Campaign, found: Fit, costs_from: Path | None) -> Prediction | None:
    """The prediction of `campaign`, fitted as `found`; None where it has no algorithm of ours, or no costs.

    `costs_from` is another campaign whose `latency` and `reduce_local` give the costs in place of those in `campaign`;
    UserError when it has no latency, and where nothing is here to build the simulator with; it is built if need be,
    for any MPI, and uses none.
    """
    costs = point_to_point_costs(found.curves) if costs_from is None else _costs_of(costs_from)
    if costs is None:
        return None
    cells = estimate_cells(campaign.results)
    if cells.filter(is_schedule_of_ours()).is_empty():
        return None
    mpi = choose_mpi(None)
    apart = [(info.collective, info.name) for info in own_catalogue(mpi) if info.restrictions.topology]
    times, left_out = predicted_times(
        cells, costs, Simulator(build(mpi)), campaign.header.study.element_bytes_of, apart
    )
    return Prediction(times, costs, left_out) if times.height or left_out else None


def _costs_of(folder: Path) -> Costs:
    campaign = load(folder)
    curves = fit(campaign.results, estimate_cells(campaign.results), f"{folder}/results.jsonl").curves
    costs = point_to_point_costs(curves)
    if costs is None:
        raise UserError(f"{folder} has no latency over sizes", "measure it: timpani run latency reduce_local")
    return costs
