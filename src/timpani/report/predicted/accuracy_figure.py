"""Predicted over measured times of our algorithms, drawn."""

from pathlib import Path

import polars as pl

from timpani.errors import UserError
from timpani.prediction.campaign import Prediction
from timpani.report.figures.models import prediction_ratio
from timpani.report.words.drawn_figures import AS_IN_THE_REPORT, FigureStyle, check_figure, figure_bytes, figure_svg
from timpani.report.words.fit_words import algorithm_of
from timpani.report.words.output_files import write_file
from timpani.study.words import counted


def write_prediction(
    prediction: Prediction | None, path: Path, force: bool = False, style: FigureStyle = AS_IN_THE_REPORT
) -> None:
    """Draw predicted over measured times into the file `path`, whose suffix says how; `force`: over one that exists."""
    check_figure(path, force, "timpani fit --help")
    if prediction is None or prediction.times.is_empty():
        raise UserError(
            "there is no prediction to draw", "measure Timpani's algorithms and latency, or name --costs-from"
        )
    rows = prediction.times.with_columns(
        pl.Series(
            "label",
            [
                f"{row['collective']} {algorithm_of(row)}, {counted(row['ranks'], 'rank')}"
                for row in prediction.times.iter_rows(named=True)
            ],
        )
    )
    drawn = figure_svg(prediction_ratio(rows), "Timpani's algorithms by the model", style)
    write_file(path, figure_bytes(drawn, path.suffix.removeprefix(".")), force)
