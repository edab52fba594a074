"""Predicted against measured times of our algorithms, as text, as JSON and drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.load import Campaign, load
from timpani.campaign.table import estimate_cells
from timpani.charts.prediction import prediction
from timpani.errors import UserError, unknown
from timpani.models.fit import Fit, fit
from timpani.models.prediction import RATIO, MessageCosts, choices, message_costs, predict
from timpani.native.build import build
from timpani.native.find import choose_mpi
from timpani.providers.own import own_catalogue
from timpani.report.files import FIGURE_FORMATS, figure_bytes, write_new
from timpani.report.fit_text import algorithm_of, number
from timpani.report.text import aligned
from timpani.schedules.simulation import Simulator
from timpani.study.schema import CURVE
from timpani.study.sizes import show_size


@dataclass(frozen=True)
class PredictionReport:
    """predictions: as `predict` makes them, under `costs`."""

    predictions: pl.DataFrame
    costs: MessageCosts

    def text(self) -> str:
        """The costs, a line for each curve, and what choosing by the model costs."""
        return (
            "\n".join(["Our algorithms by the model", *self._costs(), *aligned(list(self._rows())), *self._choices()])
            + "\n"
        )

    def as_json(self) -> dict[str, Any]:
        """Keys `costs`, `predictions` and `choices`; times in microseconds."""
        return {
            "costs": {
                "alpha_beta": [
                    {
                        "first_bytes": each.first_bytes,
                        "alpha_us": each.latency.value,
                        "beta_us_per_byte": each.per_byte.value,
                    }
                    for each in self.costs.regimes
                ],
                "gamma_us_per_byte": self.costs.gamma,
            },
            "predictions": self.predictions.to_dicts(),
            "choices": choices(self.predictions).to_dicts(),
        }

    def _costs(self) -> Iterator[str]:
        for regime in self.costs.regimes:
            yield (
                f"from {show_size(regime.first_bytes)}: α {number(max(regime.latency.value, 0))} µs, "
                f"β {number(max(regime.per_byte.value, 0))} µs/B"
            )
        gamma = self.costs.gamma
        yield (
            "γ not measured (reduce_local): reductions count as nothing" if gamma is None else f"γ {number(gamma)} µs/B"
        )

    def _rows(self) -> Iterator[list[str]]:
        yield ["curve", "ranks", "sizes", "predicted / measured", "least", "most"]
        for name, part in self.predictions.group_by(CURVE, maintain_order=True):
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

    def _choices(self) -> Iterator[str]:
        made = choices(self.predictions)
        if made.is_empty():
            return
        same = made.filter(pl.col("by_model") == pl.col("by_measurement")).height
        worst = made.sort("regret", descending=True).row(0, named=True)
        mean = sum(made["regret"]) / made.height
        where = f"{worst['collective']} of {show_size(worst['message_bytes'])} on {worst['ranks']} ranks"
        yield (
            f"The model chooses the fastest of ours at {same} of {made.height} points; its choices take {mean:.1%} "
            f"longer on average, at most {worst['regret']:.0%}: {where}, {worst['by_model']} for "
            f"{worst['by_measurement']}"
        )


def predicted_campaign(campaign: Campaign, found: Fit, costs_from: Path | None) -> PredictionReport | None:
    """The prediction of `campaign`, fitted as `found`; None where it has no algorithm of ours, or nobody told costs.

    `costs_from` is a campaign with `latency`, and `reduce_local`, where `campaign` has none; UserError when it has no
    latency either.
    """
    curves = found.curves
    if costs_from is not None:
        told = load(costs_from)
        curves = fit(told.results, estimate_cells(told.results), f"{costs_from}/results.jsonl").curves
    costs = message_costs(curves)
    if costs is None:
        if costs_from is not None:
            raise UserError(f"{costs_from} has no latency over sizes", "measure it: timpani run latency reduce_local")
        return None
    cells = estimate_cells(campaign.results)
    element_bytes = campaign.header.study.element_bytes_of
    mpi = choose_mpi(None)
    offers = (offer for offers in own_catalogue(mpi).offers.values() for offer in offers)
    apart = [(offer.collective, offer.name) for offer in offers if offer.restrictions.topology]
    predictions = predict(cells, costs, Simulator(build(mpi)), element_bytes, apart)
    return PredictionReport(predictions, costs) if predictions.height else None


def write_prediction(report: PredictionReport | None, path: Path) -> None:
    """Draw predicted over measured times into the new file `path`, whose suffix says how."""
    suffix = path.suffix.removeprefix(".")
    if suffix not in FIGURE_FORMATS:
        raise unknown("kind of figure", suffix or str(path), FIGURE_FORMATS, "timpani fit --help")
    if report is None:
        raise UserError(
            "there is no prediction to draw", "measure algorithms of ours and latency, or name --costs-from"
        )
    rows = report.predictions.with_columns(
        pl.Series(
            "label",
            [
                f"{row['collective']} {algorithm_of(row)}, {row['ranks']} ranks"
                for row in report.predictions.iter_rows(named=True)
            ],
        )
    )
    write_new(path, figure_bytes(prediction(rows), "Our algorithms by the model", suffix))
