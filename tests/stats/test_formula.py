import re

import numpy as np
import pytest

from timpani.errors import UserError
from timpani.stats.regression import Factor, parse_formula

VARIABLES = ("latency", "ranks", "size")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("latency ~ ranks + size - 1", "latency ~ ranks + size - 1"),
        (" log2( latency ) ~ ranks+log2(size)", "log2(latency) ~ ranks + log2(size)"),
        ("latency ~ 1", "latency ~ 1"),
        ("sqrt(latency) ~ ranks:log2(size)^2 + size^3", "sqrt(latency) ~ ranks:log2(size)^2 + size^3"),
    ],
)
def test_formulas_survive_parsing_and_printing(text: str, normal: str) -> None:
    formula = parse_formula(text, VARIABLES)
    assert str(formula) == normal
    assert parse_formula(str(formula), VARIABLES) == formula


def test_the_design_has_the_intercept_and_then_terms_in_order() -> None:
    columns = {"latency": np.ones(2), "ranks": np.array([2.0, 4.0]), "size": np.array([8.0, 16.0])}
    design = parse_formula("latency ~ log2(size) + ranks:size^2", VARIABLES).design(columns)
    assert design.tolist() == [[1, 3, 2 * 64], [1, 4, 4 * 256]]


def test_undefined_function_values_are_not_finite() -> None:
    assert not np.isfinite(Factor("size", "log2").values({"size": np.zeros(1)})).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("latency ~ rank + size", "unknown variable 'rank'; did you mean ranks?"),
        ("lg2(latency) ~ ranks", "unknown function 'lg2'; did you mean log2"),
        ("latency", "has no ~"),
        ("latency ~", "ends too early"),
        ("latency ~ ranks - size", "subtracts a term"),
        ("latency ~ ranks + ranks", "names a term twice"),
        ("latency ~ log2(size", "lacks the ) after log2(size"),
        ("latency ~ size^10", "has the power '10'"),
        ("latency ~ __import__('os').system('id')", "unknown function '__import__'"),
        ("latency ~ ranks.__class__", "has '.' instead of + or -"),
    ],
)
def test_invalid_formulas_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        parse_formula(text, VARIABLES)
