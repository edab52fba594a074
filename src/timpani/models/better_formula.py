"""A formula that describes times better than the one that was asked for, from the same variables."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from timpani.errors import UserError
from timpani.models.formula import Formula, Term
from timpani.models.line import Array
from timpani.models.regression import Regression, regress

MAX_ERROR_SHARE = 0.5
"""A better formula has at most half of the root mean square error."""

_CLOSE = 2.0
"""Of the better formulas the one with fewest terms is named whose error is at most twice that of the best."""

_ROUNDING = 1e-9
"""Errors below this share of the largest response are rounding errors, which no formula reduces."""


def better_formula(asked: Regression, columns: Mapping[str, Array]) -> Regression | None:
    """The fit of a formula with the same response and products or squares of the same terms; None where no such formula
    halves the error.

    columns  as `regress` takes them
    """
    if asked.error <= _ROUNDING * float(np.abs(asked.fitted).max()):
        return None
    line = MAX_ERROR_SHARE * asked.error
    found = [each for each in _fitted(asked, columns) if each.error <= line and each.aic < asked.aic]
    least = min((each.error for each in found), default=0.0)
    close = [each for each in found if each.error <= _CLOSE * least]
    return min(close, key=lambda each: (len(each.coefficients), each.error), default=None)


def _fitted(asked: Regression, columns: Mapping[str, Array]) -> Iterator[Regression]:
    for formula in _candidates(asked.formula):
        try:
            fitted = regress(formula, columns)
        except UserError:  # its terms are collinear here
            continue
        if fitted.observations == asked.observations:
            yield fitted


def _candidates(formula: Formula) -> Iterator[Formula]:
    """With an intercept and the products of two terms, the squares of single factors, or both."""
    terms = tuple(term for term in formula.terms if term)
    products = tuple((*one, *other) for one, other in combinations(terms, 2))
    squares: tuple[Term, ...] = tuple(
        (replace(term[0], power=2),) for term in terms if len(term) == 1 and term[0].power == 1
    )
    for more in (products, squares, products + squares):
        new = tuple(term for term in more if term not in terms)
        if new:
            yield replace(formula, terms=((), *terms, *new))
