"""Results of a confirmation for a table with a setting: the setting alone, the rules alone, and both together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.judge.other_points import SettingGains
from timpani.judge.points import compare_at_points, join_reference, launch_medians
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.schema import POINT, is_default
from timpani.study.selection import SelectionTable
from timpani.tune.confirmation import ConfirmedRatio
from timpani.tune.confirmation_study import parts_by_file

Switched = Literal["the setting alone", "the rules alone", "both"]


@dataclass(frozen=True)
class SettingPoint:
    """The gain of something that is switched on at one point: default's time / its time, from blocks of launches.

    It is corrected by Holm's method over what is switched on at this point.
    """

    what: Switched
    collective: str
    ranks: int
    message_bytes: int
    gain: ConfirmedRatio


def setting_points(table: SelectionTable, measured: Campaign) -> list[SettingPoint]:
    """All points of `measured` with the default and something switched on; none for a table without a setting."""
    if table.setting is None:
        return []
    medians = launch_medians(measured.results)
    switched = pl.concat(
        medians.filter(variant=variant, provider=each.provider, algorithm=each.name).with_columns(what=pl.lit(what))
        for what, variant, each in _switched(table)
    )
    compared = compare_at_points(join_reference(switched, medians.filter(is_default())))
    return [
        SettingPoint(row["what"], row["collective"], row["ranks"], row["message_bytes"], ConfirmedRatio.from_row(row))
        for row in compared.sort("what", *POINT).iter_rows(named=True)
    ]


def _switched(table: SelectionTable) -> Iterator[tuple[Switched, str, Algorithm]]:
    yield "the setting alone", table.variant, Algorithm(table.library, DEFAULT)
    for _, file in parts_by_file(table):
        yield "both", table.variant, file
        yield "the rules alone", DEFAULT, file


def summaries(points: Iterable[SettingPoint]) -> list[SettingGains]:
    """One for each thing that was switched on."""
    ratios: dict[Switched, list[tuple[float, bool]]] = {}
    for each in points:
        ratios.setdefault(each.what, []).append((each.gain.ratio, each.gain.significant))
    found = [SettingGains.from_ratios(what, of_it) for what, of_it in ratios.items()]
    return sorted(found, key=lambda each: each.name != "both")


def losing(points: Sequence[SettingPoint]) -> list[SettingPoint]:
    """Points at which the setting alone is slower than the default, corrected for the number of points."""
    alone = [each for each in points if each.what == "the setting alone"]
    return [each for each in alone if each.gain.ratio < 1 and each.gain.is_significant_among(len(alone))]
