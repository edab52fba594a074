"""Predicted against measured times of our algorithms, as text and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.report.document.blocks import Block, Bullets, Heading, Sentence, Table, Value, rows
from timpani.report.document.output_files import write_file
from timpani.report.figures.drawn_figures import FigureStyle, check_figure, figure_bytes, figure_svg
from timpani.report.figures.models import prediction_ratio
from timpani.report.fit.fit_words import MAX_CURVES, algorithm_of
from timpani.schedules.algorithms.simulation import Costs
from timpani.schedules.predict.campaign import RATIO, Prediction, choices, predict_campaign
from timpani.schedules.predict.terms import RELATIONS, SHARED_LINKS
from timpani.study.schema import ALGORITHM, CURVE
from timpani.study.sizes import show_size
from timpani.study.words import counted, four_digits


@dataclass(frozen=True)
class ShownPrediction:
    """The predicted times of a campaign, next to its measured ones."""

    prediction: Prediction

    def blocks(self, details: bool = False) -> Iterator[Block]:
        """The costs, how near the predictions come, and what choosing by the model costs.

        details  a row for each curve, also if there are more than MAX_CURVES; else one for each algorithm
        """
        times = self.prediction.times
        key = CURVE if details or times.select(CURVE).n_unique() <= MAX_CURVES else ("collective", *ALGORITHM)
        yield Heading("prediction", "Timpani's algorithms by the model")
        yield from (Sentence("costs", line) for line in costs_lines(self.prediction.calibration.costs))
        yield from (Sentence("basis", line) for line in _basis(self.prediction))
        yield _ratio_table(times, key)
        yield from _choices(times)
        if self.prediction.left_out:
            yield Bullets("left_out", tuple(self.prediction.left_out), "Left out")

    def as_object(self) -> dict[str, Any]:
        """For JSON: keys `costs`, `from_others`, `predictions`, `choices` and `left_out`; times in microseconds."""
        times = self.prediction.times
        return {
            "costs": costs_object(self.prediction.calibration.costs),
            "from_others": self.prediction.from_others,
            "predictions": times.to_dicts(),
            "choices": choices(times).to_dicts(),
            "left_out": self.prediction.left_out,
        }

    def write(self, path: Path, force: bool, style: FigureStyle) -> None:
        """Draw predicted over measured times into the file `path`, whose suffix says how; `force`: over one that
        exists."""
        check_figure(path, force, "timpani fit --help")
        times = self.prediction.times
        if times.is_empty():
            raise UserError(
                "there is no prediction to draw", "measure Timpani's algorithms and latency, or name --costs-from"
            )
        labels = [
            f"{row['collective']} {algorithm_of(row)}, {counted(row['ranks'], 'rank')}"
            for row in times.iter_rows(named=True)
        ]
        drawn = figure_svg(
            prediction_ratio(times.with_columns(pl.Series("label", labels))),
            "Timpani's algorithms by the model",
            style,
        )
        write_file(path, figure_bytes(drawn, path.suffix.removeprefix(".")), force)


def shown_prediction(campaign: Campaign, costs_from: Path | None) -> ShownPrediction | None:
    """As `predict_campaign`."""
    prediction = predict_campaign(campaign, costs_from)
    return ShownPrediction(prediction) if prediction else None


def costs_object(costs: Costs) -> dict[str, Any]:
    """The costs for JSON, microseconds and microseconds a byte."""
    return {
        "overhead_us": costs.overhead,
        "reduced_us_per_byte": costs.reduced,
        "copied_us_per_byte": costs.copied,
        "eager_us_per_byte": costs.eager,
        "rest_us": costs.rest,
        "eager_below_bytes": costs.eager_below,
        "fair_shares": costs.fair,
        "shared_us_per_byte": dict(zip(SHARED_LINKS, costs.shared, strict=True)),
        "burst_bytes": dict(zip(SHARED_LINKS, costs.burst, strict=True)),
        "idle_us": costs.idle,
        "messages": [
            {
                "between": RELATIONS[relation],
                "first_bytes": line.first_bytes,
                "gap_us": line.gap,
                "us_per_byte": line.per_byte,
                "latency_us": line.latency,
                "latency_us_per_byte": line.latency_per_byte,
            }
            for relation, lines in enumerate(costs.messages)
            for line in lines
        ],
    }


def costs_lines(costs: Costs) -> Iterator[str]:
    """The costs in words, a line for each of messages."""
    several = sum(bool(lines) for lines in costs.messages) > 1
    for relation, lines in enumerate(costs.messages):
        between = f" between ranks of {RELATIONS[relation]}" if several else ""
        for line in lines:
            flight = f" and {four_digits(line.latency_per_byte)} µs/B" if line.latency_per_byte else ""
            yield (
                f"messages{between} from {show_size(line.first_bytes)}: hold their ports for "
                f"{four_digits(line.gap)} µs and {four_digits(line.per_byte)} µs/B, then take "
                f"{four_digits(line.latency)} µs{flight}"
            )
    passing = "share equally" if costs.fair else "pass one behind the other"
    for link, cost, burst in zip(SHARED_LINKS, costs.shared, costs.burst, strict=True):
        if cost:
            bucket = f", but for up to {show_size(int(burst))} at once after a rest" if burst else ""
            yield f"{link}, which messages {passing}: {four_digits(cost)} µs/B{bucket}"
    if any(costs.burst):
        yield f"links that let bytes pass at once have been idle for {four_digits(costs.idle)} µs when a call begins"
    if costs.fair:
        yield "messages that a rank has under way at once share its ports equally, so that all of them end late"
    if costs.eager_below:
        yield (
            f"messages under {show_size(costs.eager_below)}: on their way before their receiver waits for them, once "
            f"their sender has copied them, {four_digits(costs.eager)} µs/B"
        )
    reduced = f"{four_digits(costs.reduced)} µs/B" if costs.reduced else "nothing (not measured: reduce_local)"
    yield (
        f"a message's overhead {four_digits(costs.overhead)} µs, reductions {reduced}, copies "
        f"{four_digits(costs.copied)} µs/B, a call from rest {four_digits(costs.rest)} µs"
    )


def _basis(prediction: Prediction) -> Iterator[str]:
    simulated = ", simulated" if prediction.calibration.simulated else ""
    if prediction.from_others:
        yield f"Each algorithm is predicted from what the others took{simulated}"
    elif prediction.calibration.error is None:
        yield f"By messages between two ranks alone{simulated}: a call from rest takes longer, and no interval is known"


def _ratio_table(times: pl.DataFrame, key: Sequence[str]) -> Table:
    """A row for each group of predictions: predicted over measured times."""
    entries = []
    for _, part in times.group_by(key, maintain_order=True):
        row, ratio = part.row(0, named=True), part[RATIO]
        numbers = (exp(sum(ratio.log()) / len(ratio)), min(ratio), max(ratio))
        entries.append(
            (
                f"{row['collective']} {algorithm_of(row)}",
                _first_to_last(part["ranks"]),
                part.height,
                *(Value(number, show=four_digits) for number in numbers),
            )
        )
    what = "curve" if "ranks" in key else "algorithm"
    return Table("ratios", (what, "ranks", "points", "predicted / measured", "least", "most"), rows(entries))


def _first_to_last(ranks: pl.Series) -> str:
    counts = sorted(set(ranks))
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _choices(times: pl.DataFrame) -> Iterator[Sentence]:
    made = choices(times)
    if made.is_empty():
        return
    worst = made.sort("regret", descending=True).row(0, named=True)
    values = {
        "same": made["agrees"].sum(),
        "points": made.height,
        "mean_regret": sum(made["regret"]) / made.height,
        "largest_regret": worst["regret"],
    }
    where = f"{worst['collective']} of {show_size(worst['message_bytes'])} on {counted(worst['ranks'], 'rank')}"
    yield Sentence(
        "choices",
        f"The model chooses the fastest of Timpani's algorithms at {values['same']:.4g} of {made.height} points; its "
        f"choices take {values['mean_regret']:.1%} longer on average, at most {worst['regret']:.0%}: {where}, "
        f"{' or '.join(worst['by_model'])} for {' or '.join(worst['by_measurement'])}",
        values,
    )
