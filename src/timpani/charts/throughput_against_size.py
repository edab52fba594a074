"""Throughput against message size."""

import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.labeled_curves import by_label, curves_over_sizes
from timpani.charts.marks.measure import THROUGHPUT


def throughput_against_size(
    cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT, linear: bool = False, steps: bool = False
) -> theme.Chart:
    """One curve per label with its interval. cells: columns of `estimate_cells`, a row per label and size.

    steps: only of sizes in equal steps
    """
    chart = curves_over_sizes(cells, palette, THROUGHPUT, by_label(cells), linear=linear, steps=steps)
    return theme.apply(chart, palette, "Throughput against message size, one curve per pair of ranks or way")
