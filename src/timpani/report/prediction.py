"""Predicted against measured times of our algorithms, as text and as JSON."""

from collections.abc import Iterator
from math import exp
from typing import Any

import polars as pl

from timpani.prediction.campaign import Prediction
from timpani.prediction.costs import MessageCosts
from timpani.prediction.times import RATIO, choices
from timpani.report.fit_words import algorithm_of, number
from timpani.report.text import aligned
from timpani.study.counted import counted
from timpani.study.schema import CURVE
from timpani.study.sizes import show_size


def prediction_text(prediction: Prediction) -> str:
    """The costs, a line for each curve, and what choosing by the model costs."""
    rows = aligned(list(_rows(prediction.times)))
    left_out = (f"Left out: {text}" for text in prediction.left_out)
    lines = ["Our algorithms by the model", *_costs(prediction.costs), *rows, *_choices(prediction.times), *left_out]
    return "\n".join(lines) + "\n"


def prediction_object(prediction: Prediction) -> dict[str, Any]:
    """For JSON: keys `costs`, `predictions`, `choices` and `left_out`; times in microseconds."""
    return {
        "costs": {
            "alpha_beta": [
                {
                    "first_bytes": each.first_bytes,
                    "alpha_us": each.latency.value,
                    "beta_us_per_byte": each.per_byte.value,
                }
                for each in prediction.costs.regimes
            ],
            "gamma_us_per_byte": prediction.costs.gamma,
        },
        "predictions": prediction.times.to_dicts(),
        "choices": choices(prediction.times).to_dicts(),
        "left_out": prediction.left_out,
    }


def _costs(costs: MessageCosts) -> Iterator[str]:
    for regime in costs.regimes:
        yield (
            f"from {show_size(regime.first_bytes)}: α {number(max(regime.latency.value, 0))} µs, "
            f"β {number(max(regime.per_byte.value, 0))} µs/B"
        )
    gamma = costs.gamma
    yield ("γ not measured (reduce_local): reductions count as nothing" if gamma is None else f"γ {number(gamma)} µs/B")


def _rows(times: pl.DataFrame) -> Iterator[list[str]]:
    yield ["curve", "ranks", "sizes", "predicted / measured", "least", "most"]
    for name, part in times.group_by(CURVE, maintain_order=True):
        row = dict(zip(CURVE, name, strict=True))
        ratio = part[RATIO]
        yield [
            f"{row['collective']} {algorithm_of(row)}",
            str(row["ranks"]),
            str(part.height),
            number(exp(sum(ratio.log()) / len(ratio))),
            number(min(ratio)),
            number(max(ratio)),
        ]


def _choices(times: pl.DataFrame) -> Iterator[str]:
    made = choices(times)
    if made.is_empty():
        return
    same = made.filter(pl.col("by_model") == pl.col("by_measurement")).height
    worst = made.sort("regret", descending=True).row(0, named=True)
    mean = sum(made["regret"]) / made.height
    where = f"{worst['collective']} of {show_size(worst['message_bytes'])} on {counted(worst['ranks'], 'rank')}"
    yield (
        f"The model chooses the fastest of ours at {same} of {made.height} points; its choices take {mean:.1%} "
        f"longer on average, at most {worst['regret']:.0%}: {where}, {worst['by_model']} for "
        f"{worst['by_measurement']}"
    )
