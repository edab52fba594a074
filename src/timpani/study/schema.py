"""The columns that say what a row of results, or of a table derived from them, is about.

A condition of measuring is one field of `Cell` and one column here; keys, frames and records follow.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from timpani.study.cell import COMPOSED, DEFAULT, OWN, RULES, VARIANT_SIGN, Algorithm, Cell, parse_parameters
from timpani.study.point_weights import Point

MEASURED_US = pl.coalesce("median_us", "osu_avg_us")
"""The time of a cell in µs: the median, or of results that have only an average, the average."""

_TYPES: dict[str, pl.DataType] = {
    "collective": pl.String(),
    "variant": pl.String(),
    "provider": pl.String(),
    "algorithm": pl.String(),
    "parameters": pl.String(),
    "ranks": pl.Int64(),
    "placement": pl.String(),
    "message_bytes": pl.Int64(),
    "mode": pl.String(),
    "arrival": pl.String(),
    "launch": pl.Int64(),
    "machine": pl.String(),
    "label": pl.String(),
}


def schema(*columns: str) -> dict[str, pl.DataType]:
    """These columns with their types, in this order."""
    return {name: _TYPES[name] for name in columns}


def without(key: Iterable[str], *columns: str) -> tuple[str, ...]:
    """The columns of `key` but for these."""
    return tuple(name for name in key if name not in columns)


ALGORITHM = ("variant", "provider", "algorithm", "parameters")
"""An algorithm, in the variant that starts it: what competes at a point."""

CELL = ("collective", *ALGORITHM, "ranks", "placement", "message_bytes", "mode", "arrival")
"""A cell: one point of a study."""

MACHINE_CELL = (*CELL, "machine")
"""A cell where it was measured: what an estimate over launches is of."""

POINT = without(MACHINE_CELL, *ALGORITHM)
"""What algorithms compete at."""

SWEEP = without(POINT, "message_bytes")
"""What stays the same while sizes and algorithms vary."""

CURVE = without(MACHINE_CELL, "message_bytes")
"""One algorithm's times over sizes."""

STATE = "state"
"""The state of the machine while a result was measured: one of STATES or CHANGED; null where the machine had one state,
or no probe ran."""

STATES = ("near", "middle", "far")
"""By what the probe took: the shortest, and the longest of two or three."""

CHANGED = "changed"
"""The machine was in one state before, and in another after."""

REGRET = "regret"
"""The regret that the result's race allows, as a share; null where everything was measured in all launches."""

ALLOWED = "launches_allowed"
"""How many launches the result's race may take; null likewise, and where it continues for a budget of time."""

STATISTIC = "statistic"
"""What `median_us` and its interval are of, where a reader chose: `completion`, or `osu` for OSU's average."""

LOCALITY = "locality"
"""How close the ranks of a point-to-point operation sat, one of LOCALITIES or several joined by commas; null where
no launch recorded it or no pair sends."""

NODE_RANKS, SWITCH_RANKS = "node_ranks", "switch_ranks"
"""How many ranks, in the order of their placement, are on the first node and behind the first switch; null where more
never leave it, or if that is unknown."""

BOUND = "bound_us"
"""What the dearest link alone takes: the bytes that must cross it whatever the algorithm, over its rate; microseconds.
Null where links' rates are unknown, and for all but collectives that move data."""


def cell_columns(cell: Cell) -> dict[str, Any]:
    """The values of CELL that name a cell."""
    return {
        "collective": cell.collective,
        "variant": cell.algorithm.variant,
        "provider": cell.algorithm.provider,
        "algorithm": cell.algorithm.name,
        "parameters": cell.algorithm.parameter_text,
        "ranks": cell.ranks,
        "placement": cell.placement,
        "message_bytes": cell.message_bytes,
        "mode": cell.mode,
        "arrival": cell.arrival,
    }


def cell_of(row: Mapping[str, Any]) -> Cell:
    """The cell that the columns CELL of `row` name; KeyError where one is missing."""
    return Cell(
        collective=row["collective"],
        algorithm=Algorithm(row["provider"], row["algorithm"], parse_parameters(row["parameters"]), row["variant"]),
        ranks=row["ranks"],
        placement=row["placement"],
        message_bytes=row["message_bytes"],
        mode=row["mode"],
        arrival=row["arrival"],
    )


def algorithm_name() -> pl.Expr:
    """Column `name`, as `Algorithm.plain` makes it."""
    parameters = pl.when(pl.col("parameters") == "").then(pl.lit("")).otherwise(":" + pl.col("parameters"))
    return (pl.col("algorithm") + parameters).alias("name")


def algorithm_label() -> pl.Expr:
    """Column `label`, as `Algorithm.label` makes it."""
    shown = pl.col("provider").is_in([OWN, COMPOSED])
    provider = pl.when(shown).then(pl.col("provider") + "/").otherwise(pl.lit(""))
    variant = pl.when(pl.col("variant") == DEFAULT).then(pl.lit("")).otherwise(VARIANT_SIGN + pl.col("variant"))
    return (provider + algorithm_name() + variant).alias("label")


def is_default() -> pl.Expr:
    """As `Algorithm.is_default` has it."""
    return (pl.col("algorithm") == DEFAULT) & (pl.col("variant") == DEFAULT)


def is_timpani_schedule() -> pl.Expr:
    """Whether it is one of Timpani's collective algorithms: no way of transposing, nor a call that rules replace."""
    return (pl.col("provider") == OWN) & (pl.col("algorithm") != RULES) & (pl.col("collective") != "transpose")


def point_of(row: Mapping[str, Any]) -> Point:
    """The point in the columns POINT of `row`."""
    return Point(**{name: row[name] for name in POINT})


def points_of(rows: pl.DataFrame) -> list[Point]:
    """The point of each row."""
    return list(map(point_of, rows.iter_rows(named=True)))


def algorithm_of(row: Mapping[str, Any], prefix: str = "") -> Algorithm:
    """The algorithm in the columns ALGORITHM of `row`, each name after `prefix`."""
    variant, provider, name, parameters = (row[prefix + column] for column in ALGORITHM)
    return Algorithm(provider, name, parse_parameters(parameters), variant)


def values_of(point: Point) -> tuple[object, ...]:
    """The values of POINT."""
    return tuple(getattr(point, name) for name in POINT)


def cell_frame(cells: Iterable[tuple[Any, ...]], **columns: pl.DataType) -> pl.DataFrame:
    """A row for each of `cells`, a point, an algorithm and values of `columns`: POINT, ALGORITHM and these columns."""
    rows = [
        (*values_of(point), each.variant, each.provider, each.name, each.parameter_text, *values)
        for point, each, *values in cells
    ]
    return pl.DataFrame(rows, schema={**schema(*POINT, *ALGORITHM), **columns}, orient="row")
