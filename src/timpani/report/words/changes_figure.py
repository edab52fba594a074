"""What changed from one campaign to another, drawn: the figure of `timpani compare A B --figure`."""

from pathlib import Path

import polars as pl

from timpani.errors import UserError
from timpani.report.figures.ratios import speedup
from timpani.report.figures.theme import LIGHT, Chart, Palette
from timpani.report.tables.conditions import varying_conditions
from timpani.report.words.drawn_figures import AS_IN_THE_REPORT, FigureStyle, figure_bytes, figure_svg
from timpani.report.words.output_files import write_file
from timpani.study.words import counted
from timpani.tuning.compare.changes import FASTER, Changes
from timpani.tuning.decide.decide import SLOWER

TITLE = "Time in A over time in B"


def write_changes(found: Changes, path: Path, force: bool = False, style: FigureStyle = AS_IN_THE_REPORT) -> None:
    """Draw the ratios A / B against size, a panel for each curve that both have; `force`: over a file that exists."""
    rows = ratio_rows(found)
    if rows.is_empty():
        raise UserError("there is no ratio to draw", "name two campaigns that measured the same cells")
    drawn = figure_svg(ratio_chart(rows), TITLE, style)
    write_file(path, figure_bytes(drawn, path.suffix.removeprefix(".")), force)


def ratio_rows(found: Changes) -> pl.DataFrame:
    """The cells with a ratio, as `ratio_chart` draws them, with the operation in `collective`."""
    compared = found.cells.filter(pl.col("ratio").is_not_null())
    return compared.with_columns(
        pl.Series("label", _curve_names(compared), dtype=pl.String()),
        significant=pl.col("standing").is_in([FASTER, SLOWER]),
        status=pl.lit(""),
    )


def ratio_chart(rows: pl.DataFrame, palette: Palette = LIGHT) -> Chart:
    """The ratios of `ratio_rows` against size, a panel for each curve."""
    return speedup(rows, palette, reference="in A", title="")


def _curve_names(cells: pl.DataFrame) -> list[str]:
    """Operation, algorithm and ranks of each cell, and of its placement, mode and machine what differs among them."""
    several = varying_conditions(cells)
    names = []
    for row in cells.iter_rows(named=True):
        parts = [f"{row['collective']} {row['label']}", counted(row["ranks"], "rank"), *(row[name] for name in several)]
        names.append(", ".join(parts))
    return names
