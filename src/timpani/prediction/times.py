"""What our algorithms should take by α, β and γ, against what they took; and which of them each would choose."""

from collections.abc import Callable, Collection

import polars as pl

from timpani.models.curves import TIME, curve_words
from timpani.schedules.simulation import Call, Costs, NotSimulated, Simulator
from timpani.study.cell import OWN, Algorithm, parse_parameters
from timpani.study.columns import algorithm_name, is_schedule_of_ours
from timpani.study.schema import CURVE, SWEEP
from timpani.study.sizes import show_sizes

_POINT = (*SWEEP, "message_bytes")
PREDICTED = "predicted_us"
RATIO = "ratio"


def predicted_times(
    cells: pl.DataFrame,
    costs: Costs,
    simulator: Simulator,
    element_bytes: Callable[[str], int],
    apart: Collection[tuple[str, str]] = (),
) -> tuple[pl.DataFrame, list[str]]:
    """The times that our algorithms should take under `costs`, in the cells where they were measured.

    cells          columns of `estimate_cells`; other algorithms, and cells without a time, are left out
    element_bytes  of a collective's datatype
    apart          algorithms by collective and name that are left out too: those that treat near ranks and far ones
                   differently, which costs that are the same for all pairs can't tell apart

    Columns CURVE, `message_bytes`, TIME, PREDICTED and RATIO = predicted / measured. With them a sentence for each
    curve and reason why cells could not be simulated; these have no row.
    """
    own = cells.filter(is_schedule_of_ours()).with_columns(pl.coalesce("median_us", "osu_avg_us").alias(TIME))
    own = own.filter(
        pl.col(TIME) > 0, ~pl.concat_str("collective", "algorithm", separator="/").is_in([*map("/".join, apart)])
    ).select(*CURVE, "message_bytes", TIME)
    calls = [
        Call(
            collective=row["collective"],
            algorithm=Algorithm(OWN, row["algorithm"], parse_parameters(row["parameters"])),
            ranks=row["ranks"],
            count=row["message_bytes"] // element_bytes(row["collective"]),
            element_bytes=element_bytes(row["collective"]),
        )
        for row in own.iter_rows(named=True)
    ]
    answers = simulator.times(calls, costs)
    told = own.with_columns(
        pl.Series(PREDICTED, [None if isinstance(each, NotSimulated) else each for each in answers], pl.Float64),
        pl.Series("why", [each.why if isinstance(each, NotSimulated) else None for each in answers], pl.String),
    )
    left_out = [
        f"{curve_words(part.row(0, named=True))} at {show_sizes(part['message_bytes'])}: {part['why'][0]}"
        for _, part in told.drop_nulls("why").group_by(*CURVE, "why", maintain_order=True)
    ]
    predicted = told.filter(pl.col("why").is_null()).drop("why")
    return predicted.with_columns((pl.col(PREDICTED) / pl.col(TIME)).alias(RATIO)), left_out


def choices(predictions: pl.DataFrame) -> pl.DataFrame:
    """Of each point with several of our algorithms the one that the model would choose and the one that was fastest.

    Columns `_POINT`'s, `by_model`, `by_measurement`, `regret` = how much longer the model's choice took, of the
    fastest's time: 0 where they are the same.
    """
    return (
        predictions.with_columns(algorithm_name())
        .group_by(_POINT, maintain_order=True)
        .agg(
            pl.col("name").sort_by(PREDICTED).first().alias("by_model"),
            pl.col("name").sort_by(TIME).first().alias("by_measurement"),
            (pl.col(TIME).sort_by(PREDICTED).first() / pl.col(TIME).min() - 1).alias("regret"),
            pl.len().alias("algorithms"),
        )
        .filter(pl.col("algorithms") > 1)
        .drop("algorithms")
    )
