"""Regressions over a campaign's cells: latency as a function of ranks and size, for each algorithm."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curves import TIME
from timpani.models.fitted_model import NamedModel, NotFitted
from timpani.models.formula import Formula, Term, parse_formula
from timpani.models.line import Array
from timpani.models.network import ROUND_TRIP
from timpani.models.regression import DEFAULT_FORMULAS, Regression, regress
from timpani.study.schema import CURVE, MEASURED_US, without

_OVER_RANKS = without(CURVE, "ranks")
_ALIASES = {"latency": TIME, "processes": "ranks", "size": "message_bytes"}
"""Aliases of columns, as used in published studies."""


def regressions(cells: pl.DataFrame, formula: str | None) -> list[NamedModel[Regression] | NotFitted]:
    """Fit `formula` to the cells of each algorithm and placement; by default, DEFAULT_FORMULAS where ranks and sizes
    vary.

    `cells` is the result of `estimate_cells`; a cell is one point. UserError if `formula` is invalid or fits no
    algorithm;
    if it fails for some algorithms, the reasons come last.
    """
    timed = cells.with_columns(MEASURED_US.alias(TIME)).filter(
        pl.col(TIME).is_finite() & (pl.col(TIME) > 0) & (pl.col("collective") != ROUND_TRIP)
    )
    found, refused = [], []
    for name, part in timed.group_by(_OVER_RANKS, maintain_order=True):
        if formula is None and min(part["ranks"].n_unique(), part["message_bytes"].n_unique()) < 2:
            continue
        columns = variables(part)
        for text in DEFAULT_FORMULAS if formula is None else (formula,):
            parsed = parse_formula(text, columns)
            try:
                asked = regress(parsed, columns)
                model = replace(asked, better=better_formula(asked, columns))
                found.append(NamedModel(dict(zip(_OVER_RANKS, name, strict=True)), model))
            except UserError as error:
                refused.append(error)
    if formula is not None and refused and not found:
        raise refused[0]
    return [*found, *(NotFitted(str(error)) for error in refused)]


def variables(cells: pl.DataFrame) -> Mapping[str, Array]:
    """Variables of formulas: numeric columns without missing values, and `_ALIASES` of some."""
    numeric = {
        column.name: column.to_numpy().astype(np.float64)
        for column in cells.get_columns()
        if column.dtype.is_numeric() and not column.null_count()
    }
    return {**{alias: numeric[column] for alias, column in _ALIASES.items()}, **numeric}


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
