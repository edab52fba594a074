"""What it costs and gains to set something for all calls: at other points, of which part, and for a whole program.

A variant wins if it is significantly faster than the default somewhere and significantly slower nowhere, both with the
library's choice of algorithm. Of several the one with the largest geometric mean of gains wins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

import polars as pl

from timpani.study.cell import DEFAULT, VARIANT_SIGN
from timpani.study.schema import POINT
from timpani.study.words import counted


@dataclass(frozen=True)
class OtherPoints:
    """An algorithm compared with the default at the other points of its collective.

    points  number of other points where both were compared
    slower  number of these at which the algorithm is significantly slower
    factor  largest ratio of its time to the default's at these
    """

    points: int
    slower: int
    factor: float

    def __str__(self) -> str:
        others = counted(self.points, "other point")
        return f"slower than the default at {self.slower} of the {others}, by up to {self.factor:.2f} times"


def at_other_points(compared: pl.DataFrame, point: Mapping[str, Any], label: str) -> OtherPoints | None:
    """Compare the algorithm `label` with the default away from `point` (columns POINT); None if it is slower nowhere.

    compared  columns POINT, `label`, `ratio` and `significant` of `compare_with_default`
    """
    of_it = compared.filter(
        pl.col("collective") == point["collective"], pl.col("label") == label, pl.col("ratio").is_not_null()
    )
    others = of_it.filter(~pl.all_horizontal(pl.col(name) == point[name] for name in POINT))
    slower = others.filter(pl.col("significant") & (pl.col("ratio") < 1))["ratio"].to_list()
    return OtherPoints(others.height, len(slower), 1 / min(slower)) if slower else None


@dataclass(frozen=True)
class GainPart:
    """The gain of the setting or the algorithm alone over the default at the same point.

    what   `the setting` or `the algorithm`
    label  name as in tables
    gain   default's time / its time, with the 95 % interval if there is one
    """

    what: str
    label: str
    gain: float
    gain_low: float | None
    gain_high: float | None

    def __str__(self) -> str:
        bounds = "" if None in (self.gain_low, self.gain_high) else f" ({self.gain_low:.2f} to {self.gain_high:.2f})"
        return f"{self.what} alone ({self.label}): {self.gain:.2f} times as fast{bounds}"


def competitor_noun(labels: Iterable[str]) -> str:
    """`setting` if all `labels` are defaults of variants, `algorithm` without variants, else both words."""
    kinds = {label.partition(VARIANT_SIGN)[::2] for label in labels}
    if not any(variant for _, variant in kinds):
        return "algorithm"
    return "setting" if all(name == DEFAULT and variant for name, variant in kinds) else "setting or algorithm"


def gain_parts(compared: pl.DataFrame, point: Mapping[str, Any], label: str) -> tuple[GainPart, ...]:
    """The parts of the gain of `label` at `point` (columns POINT); none unless it combines a setting and an algorithm.

    compared  columns POINT, `label`, `ratio`, `ratio_low` and `ratio_high` of `compare_with_default`
    """
    algorithm, sign, variant = label.rpartition(VARIANT_SIGN)
    if not sign or algorithm == DEFAULT:
        return ()
    there = compared.filter(pl.all_horizontal(pl.col(name) == point[name] for name in POINT))
    alone = {"the setting": f"{DEFAULT}{VARIANT_SIGN}{variant}", "the algorithm": algorithm}
    return tuple(
        GainPart(what, part, row["ratio"], row["ratio_low"], row["ratio_high"])
        for what, part in alone.items()
        for row in there.filter(pl.col("ratio").is_not_null(), label=part).iter_rows(named=True)
    )


@dataclass(frozen=True)
class SettingGains:
    """A variant, or what else is switched on, at all points where it was compared with the default.

    faster, slower  at how many points it is significantly so
    gain            geometric mean of default's time / its time
    """

    name: str
    points: int
    faster: int
    slower: int
    gain: float

    @classmethod
    def from_ratios(cls, name: str, ratios: Sequence[tuple[float, bool]]) -> Self:
        """From default's time / its time at each point, and whether it is significant."""
        faster = [ratio > 1 for ratio, significant in ratios if significant]
        mean = exp(sum(log(ratio) for ratio, _ in ratios) / len(ratios))
        return cls(name, len(ratios), sum(faster), len(faster) - sum(faster), mean)

    @property
    def wins(self) -> bool:
        """Whether it may be set for a whole program."""
        return self.faster > 0 and self.slower == 0


def variant_gains(compared: pl.DataFrame) -> list[SettingGains]:
    """Each variant with the library's choice of algorithm, the largest gain first.

    compared  columns `variant`, `algorithm`, `ratio` and `significant` of `compare_with_default`
    """
    alone = compared.filter(pl.col("variant") != DEFAULT, pl.col("algorithm") == DEFAULT, pl.col("ratio").is_not_null())
    found = [
        SettingGains.from_ratios(str(variant), rows.select("ratio", "significant").rows())
        for (variant,), rows in alone.group_by("variant", maintain_order=True)
    ]
    return sorted(found, key=lambda each: -each.gain)


def winner(gains: Iterable[SettingGains]) -> SettingGains | None:
    """The first that wins; None where none does."""
    return next((each for each in gains if each.wins), None)
