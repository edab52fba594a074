"""How much an algorithm that is best at one point loses at other points, where a setting selects it for all calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

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
