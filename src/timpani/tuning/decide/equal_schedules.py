"""Algorithms that simulated times can't tell apart, since they send alike."""

from collections import Counter

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.schema import POINT

_SAME_US = 0.0025
"""Times this near are the same: readings of the simulated clock are whole nanoseconds, two of them a time."""


def alike(cells: pl.DataFrame) -> tuple[str, ...]:
    """In words, the algorithms that took the same simulated time at half of an operation's points or more.

    cells  of `estimate_cells`. The default, which is always one of the library's algorithms, doesn't count.
    """
    simulated = cells.filter(
        pl.col("status").str.contains("simulated"), pl.col("median_us").is_not_null(), pl.col("algorithm") != DEFAULT
    ).sort(*POINT, "median_us", "label")
    apart = (pl.col("median_us").diff() > _SAME_US).fill_null(False).cum_sum().over(POINT).alias("apart")
    same = simulated.with_columns(apart).group_by(*POINT, "apart").agg(pl.col("label").sort())
    points = Counter(simulated.select(POINT).unique()["collective"])
    together = Counter((row["collective"], tuple(row["label"])) for row in same.iter_rows(named=True))
    return tuple(
        f"{collective}: {', '.join(labels[:-1])} and {labels[-1]} took the same simulated time at {count} of "
        f"{points[collective]} points: nothing tells them apart there"
        for (collective, labels), count in sorted(together.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
        if len(labels) > 1 and 2 * count >= points[collective]
    )
