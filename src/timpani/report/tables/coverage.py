"""The confidence of intervals over launches, in words."""

import polars as pl

from timpani.stats.sample import LEVEL
from timpani.study.words import per_cent

AT_LEAST = (
    f"Both ends of an interval are medians of launches, so it covers {per_cent(LEVEL)} or a little more; with fewer "
    "than six launches it covers less."
)


def coverage(cells: pl.DataFrame) -> str:
    """What the intervals of these cells over launches cover at least: `95 %`, or `50 to 95 %` where some have too few
    launches for that; empty where there is no interval. The column `ci_coverage` has each cell's exact share.
    """
    covered = cells.filter(pl.col("ci_low_us").is_not_null())["ci_coverage"].drop_nulls()
    if covered.is_empty():
        return ""
    shares = sorted({min(share, LEVEL) for share in covered})
    ends = (f"{100 * share:.1f}".removesuffix(".0") for share in (shares[0], shares[-1]))
    return f"{' to '.join(dict.fromkeys(ends))} %"
