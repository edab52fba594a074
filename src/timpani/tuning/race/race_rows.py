"""A race's points and algorithms as rows of data frames."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.point_weights import Point
from timpani.study.schema import ALGORITHM, POINT, schema


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
