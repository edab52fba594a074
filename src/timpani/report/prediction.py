"""Predicted against measured times of our algorithms, as text and as JSON."""

from collections.abc import Iterator
from math import exp
from typing import Any

import polars as pl

from timpani.prediction.campaign import Prediction
from timpani.prediction.times import RATIO, choices
from timpani.report.fit_words import algorithm_of, number
from timpani.report.text import aligned
from timpani.schedules.simulation import Costs
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
                    "first_bytes": line.first_bytes,
                    "alpha_us": line.gap,
                    "beta_us_per_byte": line.per_byte,
                }
                for line in prediction.costs.messages[0]
            ],
            "gamma_us_per_byte": prediction.costs.reduced,
        },
        "predictions": prediction.times.to_dicts(),
        "choices": choices(prediction.times).to_dicts(),
        "left_out": prediction.left_out,
    }


def _costs(costs: Costs) -> Iterator[str]:
    for line in costs.messages[0]:
        yield f"from {show_size(line.first_bytes)}: α {number(line.gap)} µs, β {number(line.per_byte)} µs/B"
    yield f"γ {number(costs.reduced)} µs/B" if costs.reduced else "γ not measured (reduce_local): reductions are free"


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
