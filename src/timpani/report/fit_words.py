"""How what was fitted is named, and its numbers are written."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from timpani.stats.mean import Estimate
from timpani.study.cell import Algorithm, parse_parameters


def algorithm_of(name: Mapping[str, Any]) -> str:
    """The algorithm with its parameters, as tables and figures call it."""
    return Algorithm(name["provider"], name["algorithm"], parse_parameters(name["parameters"])).label


def number(value: float) -> str:
    """Four significant digits; a dash for what is unknown."""
    return f"{value:.4g}" if isfinite(value) else "–"


def bounds(estimate: Estimate) -> str:
    """`(1.2 to 1.4)`, a dash for a bound that is unknown."""
    return f"({number(estimate.low)} to {number(estimate.high)})"
