"""Which cells became faster or slower between two campaigns, and a limit on such changes."""

import re
from dataclasses import dataclass

import polars as pl

from timpani.errors import UserError
from timpani.judge.decide import BY_VALUE, EQUIVALENT, SLOWER, UNDECIDED
from timpani.judge.points import JOB_LOGS, STRATA, compare_at_points, launch_medians, several_jobs
from timpani.stats.compare import ALPHA, STANDARD, min_p_value
from timpani.study.schema import CHANGED, MEASURED_US, STATE, algorithm_label

FASTER = "faster"

CHANGED_CELL = ("collective", "label", "ranks", "placement", "message_bytes", "mode", "arrival")
"""Columns that match the cells of two campaigns.

The library is a condition and not included: for two libraries, algorithms with the same name are compared, and the
defaults.
"""


@dataclass(frozen=True)
class Changes:
    """The cells of two campaigns, `before` and `after`.

    cells  a row per cell with a time in both: CHANGED_CELL, `machine` if a campaign has several, and the columns below
    only_before, only_after  CHANGED_CELL of the cells with a time in only one
    too_few  operations in which no change could be significant with this number of cells and launches
    jobs     how many jobs measured each; 0 if unknown

    Columns of `cells`:
    before_us, after_us              medians over the compared launches; over all of them where none are compared
    before_launches, after_launches  number of compared launches
    states                           states of the machine in which they are compared; empty if it had one
    ratio                            before / after (Hodges–Lehmann within states), over 1 if the cell became faster
    ratio_low, ratio_high            its 95 % interval
    p_value                          of this cell alone
    standing                         of `after`, see below

    FASTER, SLOWER  significantly, as `stats/compare.py` defines it, over jobs; over launches, unpaired, where each
                    campaign has one job. All cells of one operation are a family, corrected by Holm's method
    EQUIVALENT      the interval lies within 5 % in both directions
    UNDECIDED       neither, or no state with launches of both: `ratio` is then null
    BY_VALUE        averages, or simulated versus measured: only a ratio
    """

    cells: pl.DataFrame
    only_before: pl.DataFrame
    only_after: pl.DataFrame
    too_few: tuple[str, ...]
    jobs: tuple[int, int] = (0, 0)

    def count(self, standing: str) -> int:
        """Number of cells with this standing."""
        return self.cells.filter(pl.col("standing") == standing).height

    @property
    def can_differ(self) -> bool:
        """Whether there are launches enough to call any cell faster, slower or within 5 %."""
        open_for_ever = (pl.col("standing") == UNDECIDED) & pl.col("collective").is_in(self.too_few)
        return not self.cells.filter((pl.col("standing") != BY_VALUE) & ~open_for_ever).is_empty()


def changes(before: pl.DataFrame, after: pl.DataFrame) -> Changes:
    """Compare the results (columns RESULT_SCHEMA and STATE) of two campaigns, cell by cell and within states.

    Equal names in STATE must mean the same state of the machine, as `matched_states` ensures. Results during which the
    state changed are left out.
    """
    first, second = (launch_medians(results) for results in (before, after))
    several = max(first["machine"].n_unique(), second["machine"].n_unique()) > 1
    key = [*CHANGED_CELL, *(["machine"] if several else [])]
    exact, described = (
        pl.col("simulated") & pl.col("simulated_before"),
        pl.col("described") | pl.col("described_before"),
    )
    pairs = (
        second.join(
            first.select(*key, before_us="time_us", simulated_before="simulated", described_before="described"), on=key
        )
        .with_columns(
            simulated=exact,
            described=described | (pl.col("simulated") != pl.col("simulated_before")),
            after_us=pl.col("time_us"),
        )
        .join(_strata(before, after, key), on=key, how="left")
        .join(_job_logs(before, after, key), on=key, how="left")
        .with_columns(pl.coalesce(f"compared_{name}", name).alias(name) for name in ("before_us", "after_us"))
    )
    common = pairs.filter(pl.col(STRATA).is_not_null())
    compared = compare_at_points(common, family=("collective",)).with_columns(_standing())
    apart = pairs.filter(pl.col(STRATA).is_null()).select(
        *key, "before_us", "after_us", pl.lit(0, pl.Int64).alias("before_launches"), standing=pl.lit(UNDECIDED)
    )
    cells = pl.concat([compared, apart.with_columns(after_launches="before_launches")], how="diagonal")
    return Changes(
        cells=cells.sort(key).select(
            *key,
            *("before_us", "after_us", "before_launches", "after_launches", "states"),
            *("ratio", "ratio_low", "ratio_high", "p_value", "standing"),
        ),
        only_before=_without_partner(first, second, key),
        only_after=_without_partner(second, first, key),
        too_few=_too_few(compared.filter(~pl.col("simulated") & ~pl.col("described") & ~several_jobs())),
        jobs=(before["job"].drop_nulls().n_unique(), after["job"].drop_nulls().n_unique()),
    )


def _job_logs(before: pl.DataFrame, after: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """By `key`, JOB_LOGS: the mean log time in each known job of both campaigns."""
    first, second = (
        results.filter(pl.col("error").is_null() & (MEASURED_US > 0), pl.col("job").is_not_null())
        .with_columns(algorithm_label())
        .group_by(*key, "job")
        .agg(MEASURED_US.log().mean().alias("log"))
        .group_by(key)
        .agg(pl.col("log").alias(name))
        for results, name in zip((before, after), JOB_LOGS, strict=True)
    )
    return first.join(second, on=key)


def _strata(before: pl.DataFrame, after: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """By `key`, STRATA of the states with times of both, their `states`, and the numbers and medians of launches."""
    sides = [
        results.filter(pl.col("error").is_null() & (MEASURED_US > 0), pl.col(STATE).fill_null("") != CHANGED)
        .with_columns(algorithm_label())
        .group_by(*key, pl.col(STATE).fill_null(""))
        .agg(MEASURED_US.sort_by("launch").alias(side))
        for results, side in ((before, "reference"), (after, "times"))
    ]
    return (
        sides[0]
        .join(sides[1], on=[*key, STATE])
        .sort(*key, STATE)
        .group_by(key, maintain_order=True)
        .agg(
            pl.struct("reference", "times").alias(STRATA),
            pl.col(STATE).filter(pl.col(STATE) != "").alias("states"),
            pl.col("reference").list.len().sum().cast(pl.Int64).alias("before_launches"),
            pl.col("times").list.len().sum().cast(pl.Int64).alias("after_launches"),
            pl.col("reference").explode().median().alias("compared_before_us"),
            pl.col("times").explode().median().alias("compared_after_us"),
        )
    )


def _standing() -> pl.Expr:
    most = 1 + STANDARD.equivalence
    within = (pl.col("ratio_low") >= 1 / most) & (pl.col("ratio_high") <= most)
    return (
        pl.when("described")
        .then(pl.lit(BY_VALUE))
        .when("significant")
        .then(pl.when(pl.col("ratio") > 1).then(pl.lit(FASTER)).otherwise(pl.lit(SLOWER)))
        .when(within | pl.col("simulated"))
        .then(pl.lit(EQUIVALENT))
        .otherwise(pl.lit(UNDECIDED))
        .alias("standing")
    )


def _without_partner(cells: pl.DataFrame, others: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    return cells.join(others, on=key, how="anti").select(key).sort(key)


def _too_few(tested: pl.DataFrame) -> tuple[str, ...]:
    """Operations with too many cells: even launches that do not overlap at all would not be significant."""
    found = []
    for (operation,), cells in tested.group_by("collective", maintain_order=True):
        sizes = {tuple((len(each["reference"]), len(each["times"])) for each in row) for row in cells[STRATA].to_list()}
        if all(min_p_value(each) > ALPHA / cells.height for each in sizes):
            found.append(str(operation))
    return tuple(sorted(found))


_LIMIT = re.compile(rf"({FASTER}|{SLOWER})(?::(\d{{1,6}}(?:\.\d{{1,6}})?)%)?", re.ASCII)


@dataclass(frozen=True)
class ChangeLimit:
    """The smallest significant change that fails.

    standing  FASTER or SLOWER: the direction
    share     the change as a share of the shorter time, 0.05 for 5 %; 0: each significant change
    """

    standing: str
    share: float

    @classmethod
    def parse(cls, text: str) -> "ChangeLimit":
        """The limit of `slower:5%`, `faster:10%` or `slower`; UserError for other text."""
        match = _LIMIT.fullmatch(text.strip())
        if match is None:
            raise UserError(f"--fail-on {text!r} is no limit", "write for example slower:5%, faster:10% or slower")
        return cls(match[1], float(match[2] or 0) / 100)

    def __str__(self) -> str:
        return f"{self.standing}:{100 * self.share:.12g}%" if self.share else self.standing

    def change(self, ratio: float) -> float:
        """By how much the later time is longer (SLOWER) or shorter (FASTER), as a share of the shorter one.

        ratio  the earlier time over the later one
        """
        return (ratio if self.standing == FASTER else 1 / ratio) - 1

    def is_met(self, ratio: float) -> bool:
        """Whether a significant change fails; `ratio` as in `change`."""
        return self.change(ratio) > 0 and round(self.change(ratio), 12) >= self.share

    def meeting(self, cells: pl.DataFrame) -> pl.DataFrame:
        """The rows of `Changes.cells` that changed significantly in this direction by `share` or more."""
        changed = cells.filter(pl.col("standing") == self.standing)
        return changed.filter(pl.Series([self.is_met(ratio) for ratio in changed["ratio"]], dtype=pl.Boolean))
