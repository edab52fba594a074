"""A limit on changes, above which an automated comparison fails."""

import re
from dataclasses import dataclass

import polars as pl

from timpani.errors import UserError
from timpani.tuning.compare.changes import FASTER
from timpani.tuning.decide.decide import SLOWER

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
