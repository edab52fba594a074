"""A race's points and algorithms as rows of data frames."""

from collections.abc import Mapping
from typing import Any

from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.schema import ALGORITHM, POINT
from timpani.tuning.race.race import RacePoint


def point_of(row: Mapping[str, Any]) -> RacePoint:
    """The point in the columns POINT of `row`."""
    return RacePoint(**{name: row[name] for name in POINT})


def algorithm_of(row: Mapping[str, Any], prefix: str = "") -> Algorithm:
    """The algorithm in the columns ALGORITHM of `row`, each name after `prefix`."""
    variant, provider, name, parameters = (row[prefix + column] for column in ALGORITHM)
    return Algorithm(provider, name, parse_parameters(parameters), variant)


def algorithm_values(algorithm: Algorithm) -> tuple[str, ...]:
    """The values of ALGORITHM."""
    return algorithm.variant, algorithm.provider, algorithm.name, algorithm.parameter_text


def values_of(point: RacePoint) -> tuple[object, ...]:
    """The values of POINT."""
    return tuple(getattr(point, name) for name in POINT)
