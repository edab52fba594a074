"""The best algorithms of a point: a set, because several may have the same time."""

from collections import Counter
from collections.abc import Iterable

import polars as pl

from timpani.study.schema import POINT, is_default
from timpani.tuning.decide.equal_schedules import SAME_US

_ROUNDING = 1e-9
"""Maximum relative difference of equal times."""

_MAX_NAMED = 3


def best_rows(medians: pl.DataFrame, *preferred: str) -> pl.DataFrame:
    """A row per point: the algorithm with the lowest `order`. If several share it, the default, or the first by name.

    Adds `lowest`: the labels of all algorithms with this time, the best first. Simulated times within SAME_US are
    equal.

    medians    columns of `launch_medians`
    preferred  boolean columns that take precedence over the time, the most important first
    """
    ranked = medians.sort(*preferred, "order", descending=[*(True for _ in preferred), False], maintain_order=True)
    first = pl.col("order").first().over(POINT)
    margin = pl.when("simulated").then(SAME_US).otherwise(_ROUNDING * first)
    equal = ranked.filter(
        *(pl.col(name) == pl.col(name).first().over(POINT) for name in preferred), pl.col("order") <= first + margin
    )
    by_name = equal.sort(~is_default(), "label", maintain_order=True)
    labels = pl.col("label").alias("lowest")
    return by_name.group_by(POINT, maintain_order=True).agg(pl.exclude(POINT).first(), labels)


def most_frequent(names: Iterable[Iterable[str]]) -> str:
    """The names that occur in most of the sets, with their number: `ring (5)`, `chain and ring (5 each)`."""
    times = Counter(name for each in names for name in each)
    most = max(times.values())
    found = sorted(name for name, count in times.items() if count == most)
    if len(found) == 1:
        return f"{found[0]} ({most})"
    if len(found) > _MAX_NAMED:
        return f"{', '.join(found[:_MAX_NAMED])} and {len(found) - _MAX_NAMED} more ({most} each)"
    return f"{', '.join(found[:-1])} and {found[-1]} ({most} each)"
