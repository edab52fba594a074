"""Predicted and measured times: cell by cell, and how far off they are in a sentence."""

from collections import Counter
from dataclasses import dataclass
from statistics import median

import polars as pl

from timpani.prediction.model_error import COVERAGE
from timpani.prediction.times import HIGH, LOW, PREDICTED, RATIO
from timpani.report.document.table import MISSING, Table, Value, rows
from timpani.report.figures.columns import CALLS
from timpani.report.predicted.stored_predictions import StoredPredictions
from timpani.report.tables.conditions import conditions_of
from timpani.report.words.fit_words import algorithm_of
from timpani.study.schema import CURVE, MEASURED_US, is_timpani_schedule
from timpani.study.sizes import show_size
from timpani.study.words import counted, four_digits, per_cent

_TIME = "measured_us"


@dataclass(frozen=True)
class PredictedComparison:
    """Measured cells with their predictions.

    cells     columns of `estimate_cells`, the measured time, PREDICTED, LOW, HIGH and RATIO = predicted / measured;
              `meet`: whether the intervals do, and `held`: whether the predicted one has the measured time; null
              without an interval
    left_out  how many cells have no prediction, by why
    """

    cells: pl.DataFrame
    left_out: dict[str, int]
    predictions: StoredPredictions


def compare_predicted(cells: pl.DataFrame, predicted: StoredPredictions) -> PredictedComparison:
    """The calls among `cells` (columns of `estimate_cells`) with what was predicted of them."""
    key = [name for name in predicted.times.columns if name not in (PREDICTED, LOW, HIGH)]
    joined = (
        cells.filter(CALLS)
        .with_columns(MEASURED_US.alias(_TIME))
        .join(predicted.times, on=key, how="left", maintain_order="left")
    )
    reasons = joined.filter(pl.col(PREDICTED).is_null() | pl.col(_TIME).is_null()).select(_missing_reason())
    low, high = (pl.coalesce(bound, _TIME) for bound in ("ci_low_us", "ci_high_us"))
    found = joined.filter(pl.col(PREDICTED).is_not_null(), pl.col(_TIME) > 0).with_columns(
        (pl.col(PREDICTED) / pl.col(_TIME)).alias(RATIO),
        ((pl.col(LOW) <= high) & (pl.col(HIGH) >= low)).alias("meet"),
        pl.col(_TIME).is_between(LOW, HIGH).alias("held"),
    )
    return PredictedComparison(found, dict(Counter(reasons["why"])), predicted)


def predicted_sentence(compared: PredictedComparison) -> str:
    """How far predictions are off, how many intervals hold, what is not predicted and why."""
    left = "; ".join(f"{counted(count, 'cell')} {why}" for why, count in compared.left_out.items())
    missing = f" Not predicted: {left}." if left else ""
    cells = compared.cells
    if cells.is_empty():
        return f"No measured cell was predicted ({compared.predictions.about}).{missing}"
    off = [max(ratio, 1 / ratio) for ratio in cells[RATIO]]
    worst = cells.row(off.index(max(off)), named=True)
    held = cells["held"].drop_nulls().to_list()
    holds = (
        f"their {per_cent(COVERAGE)} intervals hold the measured time in {sum(held)} of {len(held)} "
        f"({sum(held) / len(held):.0%})"
        if held
        else "they have no interval, since too little was measured"
    )
    caution = f" {compared.predictions.caution}" if compared.predictions.caution else ""
    return (
        f"Of {counted(len(cells), 'cell')} ({compared.predictions.about}) half are off by a factor of "
        f"{median(off):.2f} or more, at worst by {max(off):.2f} ({worst['collective']} {algorithm_of(worst)} of "
        f"{show_size(worst['message_bytes'])} on {counted(worst['ranks'], 'rank')}); {holds}."
        f"{caution}{_doubtful(cells)}{missing}"
    )


def predicted_tables(cells: pl.DataFrame) -> list[Table]:
    """A table for each curve, of `PredictedComparison.cells`."""
    found = []
    for _, part in cells.group_by(CURVE, maintain_order=True):
        curve = part.row(0, named=True)
        caption = f"{algorithm_of(curve)}, {counted(curve['ranks'], 'rank')}, {conditions_of(curve)}"
        columns = ("Size", "Measured, µs", "Predicted, µs", "Predicted / measured", "Intervals meet")
        entries = (
            (
                Value(row["message_bytes"], show=show_size),
                Value(row[_TIME], row["ci_low_us"], row["ci_high_us"], show=four_digits),
                Value(row[PREDICTED], row[LOW], row[HIGH], show=four_digits),
                Value(row[RATIO], show="{:.2f}".format),
                MISSING if row["meet"] is None else "yes" if row["meet"] else "no",
            )
            for row in part.iter_rows(named=True)
        )
        found.append(Table("predicted", columns, rows(entries), caption))
    return found


def _missing_reason() -> pl.Expr:
    """Why a cell has no prediction."""
    return (
        pl.when(pl.col(_TIME).is_null())
        .then(pl.lit("without a measured time"))
        .when(is_timpani_schedule())
        .then(pl.lit("of algorithms, rank counts, sizes or placements that nobody predicted"))
        .otherwise(pl.lit("of algorithms whose schedules aren't Timpani's own"))
        .alias("why")
    )


def _doubtful(cells: pl.DataFrame) -> str:
    """What is to be known of the measured times."""
    statuses = [
        (cells["status"].str.split("+").list.contains(status).sum(), words)
        for status, words in (
            ("oversubscribed", "had more ranks than cores"),
            ("not_converged", "had not converged"),
            ("simulated", "were simulated, not measured"),
        )
    ]
    counts = ", ".join(f"{count} {words}" for count, words in statuses if count)
    return f" Of the measured cells {counts}." if counts else ""
