"""Predicted versus measured times of Timpani's algorithms, and the algorithm that each would choose."""

from collections.abc import Callable, Collection
from typing import Any

import polars as pl

from timpani.models.curves import TIME, curve_title
from timpani.prediction.calibration import Calibration
from timpani.prediction.predictions import predict
from timpani.schedules.simulation import NotSimulated, SimulatedCall, Simulator
from timpani.study.schema import CURVE, MEASURED_US, SWEEP, algorithm_name, is_timpani_schedule
from timpani.study.sizes import show_sizes

_POINT = (*SWEEP, "message_bytes")
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


def choices(predictions: pl.DataFrame) -> pl.DataFrame:
    """The model's choice and the fastest algorithm at each point with several Timpani algorithms.

    Columns of `_POINT` and:

    by_model, by_measurement  names with the lowest time, several if times are equal
    agrees                    share of `by_model` that is in `by_measurement`
    regret                    how much longer the model's choice took, relative to the fastest; the mean over `by_model`
    """
    chosen, fastest = (pl.col(name) == pl.col(name).min().over(_POINT) for name in (PREDICTED, TIME))
    return (
        predictions.with_columns(algorithm_name(), chosen=chosen, fastest=fastest)
        .group_by(_POINT, maintain_order=True)
        .agg(
            pl.col("name").filter("chosen").sort().alias("by_model"),
            pl.col("name").filter("fastest").sort().alias("by_measurement"),
            pl.col("fastest").filter("chosen").mean().alias("agrees"),
            (pl.col(TIME).filter("chosen").mean() / pl.col(TIME).min() - 1).alias("regret"),
            pl.len().alias("algorithms"),
        )
        .filter(pl.col("algorithms") > 1)
        .drop("algorithms")
    )
