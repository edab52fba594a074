"""What changed from one campaign to another, drawn: the figure of `timpani compare A B --figure`."""

from pathlib import Path

import polars as pl

from timpani.charts.speedup import speedup
from timpani.errors import UserError, unknown
from timpani.report.words.output_files import (
    AS_IN_THE_REPORT,
    FIGURE_FORMATS,
    FigureStyle,
    check_new,
    figure_bytes,
    figure_svg,
    write_file,
)
from timpani.study.counted import counted
from timpani.tuning.compare.changes import FASTER, Changes
from timpani.tuning.decide.decide import SLOWER


def check_figure(path: Path, force: bool) -> None:
    """UserError where no figure can be written into `path`; to be asked before campaigns are compared."""
    if path.suffix.removeprefix(".") not in FIGURE_FORMATS:
        raise unknown("kind of figure", path.suffix or str(path), FIGURE_FORMATS, "timpani compare --help")
    check_new(path, force)


def write_changes(found: Changes, path: Path, force: bool = False, style: FigureStyle = AS_IN_THE_REPORT) -> None:
    """Draw the ratios A / B against size, a panel for each curve that both have; `force`: over a file that exists."""
    compared = found.cells.filter(pl.col("ratio").is_not_null())
    if compared.is_empty():
        raise UserError("there is no ratio to draw", "name two campaigns that measured the same cells")
    rows = compared.with_columns(
        pl.Series("label", _curve_names(compared)),
        significant=pl.col("standing").is_in([FASTER, SLOWER]),
        status=pl.lit(""),
    )
    drawn = figure_svg(speedup(rows, reference="in A"), "Time in A over time in B", style)
    write_file(path, figure_bytes(drawn, path.suffix.removeprefix(".")), force)


def _curve_names(cells: pl.DataFrame) -> list[str]:
    """Operation, algorithm and ranks of each cell, and of its placement, mode and machine what differs among them."""
    several = [
        name for name in ("placement", "mode", "machine") if name in cells.columns and cells[name].n_unique() > 1
    ]
    names = []
    for row in cells.iter_rows(named=True):
        parts = [f"{row['collective']} {row['label']}", counted(row["ranks"], "rank"), *(row[name] for name in several)]
        names.append(", ".join(parts))
    return names
