"""Whether a gain comes from a setting, an algorithm or both, and the gain of each alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.study.cell import DEFAULT, VARIANT_SIGN
from timpani.study.schema import POINT


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
