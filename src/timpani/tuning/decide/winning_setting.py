"""Which variant of the library's settings is worth setting for a whole program.

A setting holds for all calls of a program, so that what it gains at one size it may lose at another. A variant wins if
it is significantly faster than the default somewhere and significantly slower nowhere, both with the library's choice
of algorithm. Of several the one with the largest geometric mean of gains wins.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

import polars as pl

from timpani.study.cell import DEFAULT


@dataclass(frozen=True)
class VariantGains:
    """A variant at all points where it was compared with `default`, with the library's choice of algorithm.

    faster, slower  at how many points it is significantly so
    gain            geometric mean of default's time / its time
    """

    variant: str
    points: int
    faster: int
    slower: int
    gain: float

    @property
    def wins(self) -> bool:
        """Whether it may be set for a whole program."""
        return self.faster > 0 and self.slower == 0


def variant_gains(compared: pl.DataFrame) -> list[VariantGains]:
    """Each variant, the largest gain first.

    compared  columns `variant`, `algorithm`, `ratio` and `significant` of `compare_with_default`
    """
    alone = compared.filter(pl.col("variant") != DEFAULT, pl.col("algorithm") == DEFAULT, pl.col("ratio").is_not_null())
    found = []
    for (variant,), rows in alone.group_by("variant", maintain_order=True):
        pairs = list(rows.select("ratio", "significant").iter_rows())
        shown = [ratio for ratio, significant in pairs if significant]
        mean = exp(sum(log(ratio) for ratio, _ in pairs) / len(pairs))
        faster = sum(ratio > 1 for ratio in shown)
        found.append(VariantGains(str(variant), len(pairs), faster, len(shown) - faster, mean))
    return sorted(found, key=lambda each: -each.gain)


def winner(gains: Iterable[VariantGains]) -> VariantGains | None:
    """The first that wins; None where none does."""
    return next((each for each in gains if each.wins), None)
