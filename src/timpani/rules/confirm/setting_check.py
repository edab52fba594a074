"""Results of a confirmation for a table with a setting: the setting alone, the rules alone, and both together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.rules.confirm.confirmation_study import parts_by_file
from timpani.stats.compare import ALPHA
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.columns import is_default
from timpani.study.schema import POINT
from timpani.tuning.decide.points import REFERENCE_TIMES, compare_at_points, launch_medians
from timpani.tuning.decide.selection_table import SelectionTable

Switched = Literal["the setting alone", "the rules alone", "both"]


@dataclass(frozen=True)
class SettingPoint:
    """default's time / the time with something switched on, at one point, from blocks of launches.

    low, high    95 % interval; None with too few launches
    significant  after Holm's correction over what is switched on at this point
    p_value      of this pair alone
    least_p      smallest p-value that this number of blocks allows
    """

    what: Switched
    collective: str
    ranks: int
    message_bytes: int
    ratio: float
    low: float | None
    high: float | None
    significant: bool
    p_value: float
    least_p: float


@dataclass(frozen=True)
class SettingSummary:
    """All points of one thing that is switched on; `gain` is the geometric mean of ratios."""

    what: Switched
    points: int
    faster: int
    slower: int
    gain: float


def setting_points(table: SelectionTable, measured: Campaign) -> list[SettingPoint]:
    """All points of `measured` with the default and something switched on; none for a table without a setting."""
    if table.setting is None:
        return []
    medians = launch_medians(measured.results)
    reference = medians.filter(is_default()).select(
        *POINT,
        *(pl.col(name).alias(column) for name, column in REFERENCE_TIMES.items()),
        pl.col("variant").alias("reference_variant"),
    )
    switched = pl.concat(
        [
            medians.filter(pl.col("variant") == variant, _is_algorithm(algorithm)).with_columns(
                pl.lit(what).alias("what")
            )
            for what, variant, algorithm in _switched(table)
        ]
    )
    compared = compare_at_points(switched.join(reference, on=POINT, how="inner", maintain_order="left"))
    return [
        SettingPoint(
            row["what"],
            row["collective"],
            row["ranks"],
            row["message_bytes"],
            row["ratio"],
            row["ratio_low"],
            row["ratio_high"],
            row["significant"],
            row["p_value"],
            2 / 2 ** row["paired"] if row["paired"] else 0.0,
        )
        for row in compared.sort("what", *POINT).iter_rows(named=True)
    ]


def _switched(table: SelectionTable) -> list[tuple[Switched, str, Algorithm]]:
    files = [file for _, file in parts_by_file(table)]
    alone: tuple[Switched, str, Algorithm] = ("the setting alone", table.variant, Algorithm(table.library, DEFAULT))
    with_rules: list[tuple[Switched, str, Algorithm]] = [("both", table.variant, file) for file in files]
    return [alone, *with_rules, *(("the rules alone", DEFAULT, file) for file in files)]


def _is_algorithm(algorithm: Algorithm) -> pl.Expr:
    return (pl.col("provider") == algorithm.provider) & (pl.col("algorithm") == algorithm.name)


def summaries(points: Iterable[SettingPoint]) -> list[SettingSummary]:
    """One for each thing that was switched on."""
    by_what: dict[Switched, list[SettingPoint]] = {}
    for each in points:
        by_what.setdefault(each.what, []).append(each)
    found = []
    for what, of_it in by_what.items():
        shown = [each.ratio > 1 for each in of_it if each.significant]
        mean = exp(sum(log(each.ratio) for each in of_it) / len(of_it))
        found.append(SettingSummary(what, len(of_it), sum(shown), len(shown) - sum(shown), mean))
    return sorted(found, key=lambda each: each.what != "both")


def losing(points: Sequence[SettingPoint]) -> list[SettingPoint]:
    """Points at which the setting alone is slower than the default, corrected for the number of points.

    Blocks can't reach a smaller p-value than `least_p`, so that value is accepted too.
    """
    alone = [each for each in points if each.what == "the setting alone"]
    return [
        each
        for each in alone
        if each.significant and each.ratio < 1 and each.p_value <= max(ALPHA / len(alone), each.least_p)
    ]
