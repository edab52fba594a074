"""What became faster or slower from one campaign to another."""

from dataclasses import dataclass

import polars as pl

from timpani.stats.compare import ALPHA, smallest_p
from timpani.tuning.decide.decide import BY_VALUE, CLOSE_ENOUGH, SLOWER, UNDECIDED, WITHIN
from timpani.tuning.decide.points import compare_at_points, launch_medians

FASTER = "faster"

CHANGED_CELL = ("collective", "label", "ranks", "placement", "message_bytes", "mode")
"""What cells of two campaigns are matched by. The library is a condition and no part of it: of two libraries the
algorithms of one name are compared, and their defaults."""


@dataclass(frozen=True)
class Changes:
    """The cells of two campaigns, `before` and `after`.

    cells    a row per cell that both have a time of: CHANGED_CELL, `machine` where a campaign holds several,
             `before_us`, `after_us`, medians over launches; `before_launches`, `after_launches`; `ratio` = before /
             after (Hodges–Lehmann, over 1 where it became faster), `ratio_low`, `ratio_high` at 95 %; `p_value` of the
             cell alone; `standing` in `after`:
             FASTER or SLOWER: significantly, as `stats/compare.py` has it, unpaired over launches; a family, corrected
             together after Holm, is all cells of one operation. WITHIN: the interval lies within 5 % either way.
             UNDECIDED: neither is shown. BY_VALUE: averages, or simulated against measured: a ratio and no more
    only_before, only_after   CHANGED_CELL of what only one has a time of
    too_few  operations in which no change could be significant with so many cells and so few launches
    """

    cells: pl.DataFrame
    only_before: pl.DataFrame
    only_after: pl.DataFrame
    too_few: tuple[str, ...]

    def count(self, standing: str) -> int:
        """How many cells stand so."""
        return self.cells.filter(pl.col("standing") == standing).height


def changes(before: pl.DataFrame, after: pl.DataFrame) -> Changes:
    """Compare the results (columns RESULT_SCHEMA) of two campaigns, cell by cell."""
    first, second = (launch_medians(results) for results in (before, after))
    several = max(first["machine"].n_unique(), second["machine"].n_unique()) > 1
    key = [*CHANGED_CELL, *(["machine"] if several else [])]
    exact, averaged = pl.col("simulated") & pl.col("simulated_before"), pl.col("averaged") | pl.col("averaged_before")
    pairs = second.join(
        first.select(
            *key,
            pl.col("times").alias("reference"),
            pl.col("time_us").alias("before_us"),
            pl.col("simulated").alias("simulated_before"),
            pl.col("averaged").alias("averaged_before"),
        ),
        on=key,
    ).with_columns(
        simulated=exact,
        averaged=averaged | (pl.col("simulated") != pl.col("simulated_before")),
    )
    compared = compare_at_points(pairs, family=("collective",)).with_columns(
        _standing(),
        before_launches=pl.col("reference").list.len().cast(pl.Int64),
        after_launches=pl.col("times").list.len().cast(pl.Int64),
        after_us=pl.col("time_us"),
    )
    return Changes(
        cells=compared.sort(key).select(
            *key,
            *("before_us", "after_us", "before_launches", "after_launches"),
            *("ratio", "ratio_low", "ratio_high", "p_value", "standing"),
        ),
        only_before=_without_partner(first, second, key),
        only_after=_without_partner(second, first, key),
        too_few=_too_few(compared.filter(~pl.col("simulated") & ~pl.col("averaged"))),
    )


def _standing() -> pl.Expr:
    within = (pl.col("ratio_low") >= 1 / CLOSE_ENOUGH) & (pl.col("ratio_high") <= CLOSE_ENOUGH)
    return (
        pl.when("averaged")
        .then(pl.lit(BY_VALUE))
        .when("significant")
        .then(pl.when(pl.col("ratio") > 1).then(pl.lit(FASTER)).otherwise(pl.lit(SLOWER)))
        .when(within | pl.col("simulated"))
        .then(pl.lit(WITHIN))
        .otherwise(pl.lit(UNDECIDED))
        .alias("standing")
    )


def _without_partner(cells: pl.DataFrame, others: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    return cells.join(others, on=key, how="anti").select(key).sort(key)


def _too_few(tested: pl.DataFrame) -> tuple[str, ...]:
    """Operations whose cells are so many that not even launches without any overlap would be significant."""
    found = []
    for (operation,), cells in tested.group_by("collective", maintain_order=True):
        launches = cells.select("before_launches", "after_launches").unique().iter_rows()
        if all(smallest_p(*each) > ALPHA / cells.height for each in launches):
            found.append(str(operation))
    return tuple(sorted(found))
