"""Predicts Timpani's algorithms in a campaign, with costs from this campaign or another."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign, check_one_machine, load_one_machine
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import NotSimulated, SimulatedCall, Simulator
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.predict.calibration import Calibration, calibrate, require_calibration
from timpani.schedules.predict.observed import call_of, places_of
from timpani.schedules.predict.predictions import predict
from timpani.stats.curve import TIME, curve_title
from timpani.study.schema import CURVE, MEASURED_US, is_timpani_schedule
from timpani.study.sizes import show_sizes

PREDICTED, LOW, HIGH = "predicted_us", "predicted_low_us", "predicted_high_us"
RATIO = "ratio"


def predicted_times(
    cells: pl.DataFrame,
    calibration: Calibration,
    simulator: Simulator,
    call_of: Callable[[dict[str, Any]], SimulatedCall],
    apart: Collection[tuple[str, str]] = (),
    from_others: bool = False,
) -> tuple[pl.DataFrame, list[str]]:
    """Predicted times of Timpani's algorithms in the cells where they were measured.

    cells        columns of `estimate_cells`; other algorithms, and cells without a time, are skipped
    call_of      gives the call of a cell
    apart        algorithms to skip, by collective and name
    from_others  use the leave-one-out prediction of each algorithm; the calibration is from these cells

    Columns: CURVE, `message_bytes`, TIME, PREDICTED, its interval LOW and HIGH (null if unknown) and RATIO = predicted
    / measured. Also returns a sentence for each curve and reason without a prediction; such cells have no row.
    """
    own = cells.filter(is_timpani_schedule()).with_columns(MEASURED_US.alias(TIME))
    own = own.filter(
        pl.col(TIME) > 0, ~pl.concat_str("collective", "algorithm", separator="/").is_in([*map("/".join, apart)])
    ).select(*CURVE, "message_bytes", TIME)
    calls = [call_of(row) for row in own.iter_rows(named=True)]
    left = dict(zip((each.call for each in calibration.observations), calibration.left_out, strict=True))
    answers = predict(simulator, calibration, calls)
    rows: list[tuple[float | None, float | None, float | None, str | None]] = []
    for row, call, answer in zip(own.iter_rows(named=True), calls, answers, strict=True):
        if isinstance(answer, NotSimulated):
            rows.append((None, None, None, answer.why))
            continue
        if from_others and call in left:
            answer = answer.scaled(left[call] * row[TIME] / answer.time)
        rows.append((answer.time, answer.low, answer.high, None))
    types = {PREDICTED: pl.Float64(), LOW: pl.Float64(), HIGH: pl.Float64(), "why": pl.String()}
    table = pl.concat([own, pl.DataFrame(rows, schema=types, orient="row")], how="horizontal")
    left_out = [
        f"{curve_title(part.row(0, named=True))} at {show_sizes(part['message_bytes'])}: {part['why'][0]}"
        for _, part in table.drop_nulls("why").group_by(*CURVE, "why", maintain_order=True)
    ]
    predicted = table.filter(pl.col("why").is_null()).drop("why")
    return predicted.with_columns((pl.col(PREDICTED) / pl.col(TIME)).alias(RATIO)), left_out


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
    cells = estimate_cells(raced_results(campaign.of_variant())).filter(is_timpani_schedule())
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
