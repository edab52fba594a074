"""What an algorithm that is best at one point costs at the others, where a setting has it in all calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.study.counted import counted
from timpani.study.schema import POINT


@dataclass(frozen=True)
class Elsewhere:
    """How an algorithm does at the other points of its collective.

    points  where it was compared with the default
    slower  at how many of them it is significantly slower
    factor  its time over the default's where that is largest, of these
    """

    points: int
    slower: int
    factor: float

    def __str__(self) -> str:
        others = counted(self.points, "other point")
        return f"slower than the default at {self.slower} of {others}, up to {self.factor:.2f} times"


def elsewhere(compared: pl.DataFrame, point: Mapping[str, Any], label: str) -> Elsewhere | None:
    """Of the algorithm `label` away from `point` (columns POINT); None where it is nowhere shown to be slower.

    compared  columns POINT, `label`, `ratio` and `significant` of `compare_with_default`
    """
    of_it = compared.filter(
        pl.col("collective") == point["collective"], pl.col("label") == label, pl.col("ratio").is_not_null()
    )
    others = of_it.filter(~pl.all_horizontal(pl.col(name) == point[name] for name in POINT))
    slower = others.filter(pl.col("significant") & (pl.col("ratio") < 1))["ratio"].to_list()
    return Elsewhere(others.height, len(slower), 1 / min(slower)) if slower else None
