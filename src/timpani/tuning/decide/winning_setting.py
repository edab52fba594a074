"""Which variant of the library's settings is worth setting for a whole program.

A setting holds for all calls of a program, so that what it gains at one size it may lose at another. A variant wins if
it is significantly faster than the default somewhere and significantly slower nowhere, both with the library's choice
of algorithm. Of several the one with the largest geometric mean of gains wins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Self

import polars as pl

from timpani.study.cell import DEFAULT


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
