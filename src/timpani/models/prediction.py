"""What our algorithms should take by α, β and γ, against what they took; and which of them each would choose."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import polars as pl

from timpani.models.curves import TIME
from timpani.models.fit import CurveFit
from timpani.models.hockney import Regime
from timpani.schedules.simulation import Call, Costs, Simulator
from timpani.study.cell import OWN, Algorithm, parse_parameters
from timpani.study.columns import algorithm_name, is_schedule_of_ours
from timpani.study.schema import CURVE, SWEEP

LATENCY, REDUCTION = "latency", "reduce_local"
"""The operations that α and β, and γ, are fitted to."""

_POINT = (*SWEEP, "message_bytes")
PREDICTED = "predicted_us"
RATIO = "ratio"


@dataclass(frozen=True)
class MessageCosts:
    """Costs by message size, microseconds.

    regimes  of the curve of half round trips: α and β of each
    gamma    a byte of MPI_Reduce_local; None where it was not measured, and counted as nothing
    """

    regimes: list[Regime]
    gamma: float | None

    def at(self, message_bytes: int) -> Costs:
        """The costs in the regime of a size. An intercept or a slope under 0 is noise about nothing, and counts so."""
        later = [regime for regime in self.regimes if regime.first_bytes <= message_bytes]
        regime = later[-1] if later else self.regimes[0]
        return Costs(max(regime.latency.value, 0.0), max(regime.per_byte.value, 0.0), self.gamma or 0.0)


def message_costs(curves: list[CurveFit]) -> MessageCosts | None:
    """The costs that curves of `latency` and `reduce_local` tell, the first of each; None without a latency."""
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, REDUCTION)
    )
    if latency is None:
        return None
    gamma = None if reduction is None else max(reduction.hockney.per_byte.value, 0.0)
    return MessageCosts(latency.regimes, gamma)


def predict(
    cells: pl.DataFrame,
    costs: MessageCosts,
    simulator: Simulator,
    element_bytes: Callable[[str], int],
    apart: Collection[tuple[str, str]] = (),
) -> pl.DataFrame:
    """Every cell of ours (columns of `estimate_cells`) with its time under `costs` and with elements of
    `element_bytes(collective)`, but for the algorithms `apart`, by
    collective and name: those that tell near ranks from far ones, which costs that are the same for all can't.

    Columns CURVE, `message_bytes`, TIME, PREDICTED and RATIO = predicted / measured. A schedule is walked with the
    costs of the regime that the cell's own size is in, though its messages may be smaller.
    """
    own = cells.filter(is_schedule_of_ours()).with_columns(pl.coalesce("median_us", "osu_avg_us").alias(TIME))
    own = own.filter(
        pl.col(TIME) > 0, ~pl.concat_str("collective", "algorithm", separator="/").is_in([*map("/".join, apart)])
    ).select(*CURVE, "message_bytes", TIME)
    calls = [
        (
            Call(
                collective=row["collective"],
                algorithm=Algorithm(OWN, row["algorithm"], parse_parameters(row["parameters"])),
                ranks=row["ranks"],
                count=row["message_bytes"] // element_bytes(row["collective"]),
                element_bytes=element_bytes(row["collective"]),
            ),
            costs.at(row["message_bytes"]),
        )
        for row in own.iter_rows(named=True)
    ]
    return own.with_columns(pl.Series(PREDICTED, simulator.times(calls), pl.Float64)).with_columns(
        (pl.col(PREDICTED) / pl.col(TIME)).alias(RATIO)
    )


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
