"""Ordinary least squares of a formula, with cross-validation that leaves out one rank count at a time.

A formula such as `log2(latency) ~ ranks + log2(size) - 1` is parsed, never evaluated as code.

    formula  = factor "~" term { "+" term } [ "-" "1" ]
    term     = factor { ":" factor } | "0" | "1"
    factor   = ( variable | function "(" variable ")" ) [ "^" digit ]

As in R there is an intercept unless `- 1` or `+ 0` removes it, and `a:b` is a product.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import copysign, inf, log, pi
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtr  # type: ignore[import-untyped]

from timpani.errors import UserError, unknown
from timpani.stats.curve import TIME, Array
from timpani.stats.sample import t_estimate
from timpani.study.schema import CURVE, MEASURED_US, without

FUNCTIONS: dict[str, Callable[[Array], Array]] = {"log2": np.log2, "log": np.log, "sqrt": np.sqrt}

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\d+|\S)")
_EXAMPLE = "write it as 'log2(latency) ~ ranks + log2(size) - 1'"
_HELP = "timpani fit --help"


@dataclass(frozen=True)
class Factor:
    """A variable, optionally inside a function, optionally raised to a power."""

    variable: str
    function: str = ""
    power: int = 1

    def __str__(self) -> str:
        inner = f"{self.function}({self.variable})" if self.function else self.variable
        return inner if self.power == 1 else f"{inner}^{self.power}"

    def values(self, columns: Mapping[str, Array]) -> Array:
        """Values, shape (rows,); not finite where a function is undefined, such as log2 at size 0."""
        column = columns[self.variable]
        with np.errstate(divide="ignore", invalid="ignore"):
            applied = FUNCTIONS[self.function](column) if self.function else column
        return np.asarray(applied**self.power)


Term = tuple[Factor, ...]


def term_name(term: Term) -> str:
    """`ranks:log2(size)`; the empty product is the intercept."""
    return ":".join(map(str, term)) or "intercept"


@dataclass(frozen=True)
class Formula:
    """A linear model; the empty product among the terms is the intercept."""

    response: Factor
    terms: tuple[Term, ...]

    @property
    def has_intercept(self) -> bool:
        return () in self.terms

    def __str__(self) -> str:
        right = [term_name(term) for term in self.terms if term]
        return f"{self.response} ~ {' + '.join(right) or '1'}{'' if self.has_intercept else ' - 1'}"

    def design(self, columns: Mapping[str, Array]) -> Array:
        """Design matrix, shape (rows, terms)."""
        rows = len(next(iter(columns.values())))
        products = [
            np.prod([factor.values(columns) for factor in term], axis=0) if term else np.ones(rows)
            for term in self.terms
        ]
        return np.stack(products, axis=1)


def parse_formula(text: str, variables: Iterable[str]) -> Formula:
    """Read a formula over `variables`; UserError names what is wrong and the nearest valid name."""
    return _Parser(text, frozenset(variables)).formula()


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, variables: frozenset[str]) -> None:
        self.text = text
        self.variables = variables
        self.tokens = [match[1] for match in _TOKEN.finditer(text)]

    def formula(self) -> Formula:
        response = self._factor()
        if not self._takes("~"):
            raise self._error("has no ~ after the response")
        terms: list[Term] = []
        intercept = True
        adds = True
        while True:
            if self._next in ("0", "1"):
                intercept = adds == (self._take() == "1")
            elif adds:
                terms.append(self._term())
            else:
                raise self._error("subtracts a term; only the intercept, 1, can be subtracted")
            if not self.tokens:
                break
            adds = self._takes("+")
            if not adds and not self._takes("-"):
                raise self._error(f"has {self._next!r} instead of + or -")
        if len(set(terms)) < len(terms):
            raise self._error("names a term twice")
        if not terms and not intercept:
            raise self._error("has no terms")
        return Formula(response, ((),) * intercept + tuple(terms))

    def _term(self) -> Term:
        factors = [self._factor()]
        while self._takes(":"):
            factors.append(self._factor())
        return tuple(factors)

    def _factor(self) -> Factor:
        name = self._take()
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise self._error(f"has {name!r} instead of a variable")
        function = ""
        if self._takes("("):
            if name not in FUNCTIONS:
                raise unknown("function", name, FUNCTIONS, _HELP)
            function, name = name, self._take()
            if not self._takes(")"):
                raise self._error(f"lacks the ) after {function}({name}")
        if name not in self.variables:
            raise unknown("variable", name, self.variables, _HELP)
        if not self._takes("^"):
            return Factor(name, function)
        power = self._take()
        if not re.fullmatch("[2-9]", power):
            raise self._error(f"has the power {power!r}, not 2 to 9")
        return Factor(name, function, int(power))

    @property
    def _next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def _takes(self, token: str) -> bool:
        found = self._next == token
        if found:
            self._take()
        return found

    def _take(self) -> str:
        if not self.tokens:
            raise self._error("ends too early")
        return self.tokens.pop(0)

    def _error(self, how: str) -> UserError:
        return UserError(f"the formula {self.text!r} {how}", _EXAMPLE)


DEFAULT_FORMULAS = ("latency ~ ranks + size - 1", "log2(latency) ~ ranks + log2(size) - 1")
"""Without an intercept: only then do R² and t values agree with the published table (docs/notebook/regressions.md)."""


@dataclass(frozen=True)
class NotFitted:
    """The reason why a model couldn't be fitted, as a sentence."""

    why: str


@dataclass(frozen=True)
class Coefficient:
    """A term's estimate, in the response's unit per the term's unit, with its 95 % interval."""

    term: str
    value: float
    standard_error: float
    t: float
    p_value: float
    low: float
    high: float


@dataclass(frozen=True)
class Regression:
    """A fitted formula.

    observations           rows used
    left_out               rows with an undefined term, such as log2 of size 0
    r_squared              about the mean if the terms contain a constant, else about 0
    aic                    Akaike's criterion for normal residuals; −∞ if all residuals are 0
    error                  root mean square of the residuals, in the response's unit
    design                 the value of each term, shape (observations, terms)
    ranks, sizes           of the rows used, shape (observations,)
    fitted                 fitted response, shape (observations,)
    residuals              response − fitted, shape (observations,)
    """

    formula: Formula
    observations: int
    left_out: int
    coefficients: tuple[Coefficient, ...]
    r_squared: float
    aic: float
    error: float
    design: Array
    ranks: Array
    sizes: Array
    fitted: Array
    residuals: Array

    @cached_property
    def cross_validated_error(self) -> float | None:
        """As `error`, with each rank count predicted from the others; None if the model can't be fitted without one."""
        counts = np.unique(self.ranks)
        if len(counts) < 2:
            return None
        response = self.fitted + self.residuals
        errors = []
        for count in counts:
            seen = self.ranks != count
            coefficients = _solution(self.design[seen], response[seen])
            if coefficients is None:
                return None
            errors.append(response[~seen] - self.design[~seen] @ coefficients)
        return _root_mean_square(np.concatenate(errors))


@dataclass(frozen=True)
class NamedRegression:
    """name: columns and values that its points have in common."""

    name: dict[str, Any]
    model: Regression


def regress(formula: Formula, columns: Mapping[str, Array]) -> Regression:
    """Fit `formula` to rows with the variables `columns`, each of shape (rows,), including `ranks` and `size`.

    UserError if there are no more rows than terms, or if terms are collinear.
    """
    response, design = formula.response.values(columns), formula.design(columns)
    used = np.flatnonzero(np.isfinite(response) & np.isfinite(design).all(axis=1))
    y, x = response[used], design[used]
    if _solution(x, y) is None:
        raise UserError(
            f"{len(used)} points are too few or too similar to estimate the terms of '{formula}'",
            "measure more sizes or rank counts, or leave terms out",
        )
    rows, terms = x.shape
    scale = np.abs(x).max(axis=0)  # terms such as a size and a logarithm differ by many orders of magnitude
    q, r = np.linalg.qr(x / scale)
    inverse = np.linalg.inv(r) / scale[:, None]
    values = inverse @ (q.T @ y)
    fitted = x @ values
    residuals = y - fitted
    squares = float(residuals @ residuals)
    standard_errors = np.sqrt(squares / (rows - terms) * (inverse**2).sum(axis=1))
    center = y.mean() if _contains_a_constant(x / scale) else 0.0
    total = float(((y - center) ** 2).sum())
    return Regression(
        formula=formula,
        observations=rows,
        left_out=len(response) - rows,
        coefficients=tuple(_coefficients(formula, values, standard_errors, rows - terms)),
        r_squared=1 - squares / total if total > 0 else 0.0,
        aic=rows * (log(2 * pi * squares / rows) + 1) + 2 * terms if squares > 0 else -inf,
        error=_root_mean_square(residuals),
        design=x,
        ranks=columns["ranks"][used],
        sizes=columns["size"][used],
        fitted=fitted,
        residuals=residuals,
    )


def _contains_a_constant(x: Array) -> bool:
    """Whether some combination of the terms is the same in all rows."""
    with_ones = np.column_stack([x, np.ones(len(x))])
    return bool(np.linalg.matrix_rank(with_ones) == x.shape[1])


def _coefficients(formula: Formula, values: Array, standard_errors: Array, degrees: int) -> Iterator[Coefficient]:
    for term, value, error in zip(formula.terms, values, standard_errors, strict=True):
        t = float(value / error) if error > 0 else copysign(inf, value)
        p_value = 2 * float(stdtr(degrees, -abs(t)))
        interval = t_estimate(float(value), float(error), degrees)
        yield Coefficient(term_name(term), float(value), float(error), t, p_value, interval.low, interval.high)


def _solution(x: Array, y: Array) -> Array | None:
    """The coefficients of the least squares; None where there are no more rows than terms, or collinear terms.

    Terms may differ in scale by any factor.
    """
    rows, terms = x.shape
    scale = np.abs(x).max(axis=0, initial=0)
    if rows <= terms or not (scale > 0).all():
        return None
    coefficients, _, rank, _ = np.linalg.lstsq(x / scale, y, rcond=None)
    return coefficients / scale if rank == terms else None


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(np.asarray(values) ** 2)))


_OVER_RANKS = without(CURVE, "ranks")
_ALIASES = {"latency": TIME, "processes": "ranks", "size": "message_bytes"}
"""Aliases of columns, as used in published studies."""


def regressions(cells: pl.DataFrame, formula: str | None) -> list[NamedRegression | NotFitted]:
    """Fit `formula` to the cells of each algorithm and placement; by default, DEFAULT_FORMULAS where ranks and sizes
    vary.

    `cells` is the result of `estimate_cells`; a cell is one point. UserError if `formula` is invalid or fits no
    algorithm;
    if it fails for some algorithms, the reasons come last.
    """
    timed = cells.with_columns(MEASURED_US.alias(TIME)).filter(pl.col(TIME).is_finite() & (pl.col(TIME) > 0))
    found, refused = [], []
    for name, part in timed.group_by(_OVER_RANKS, maintain_order=True):
        if formula is None and min(part["ranks"].n_unique(), part["message_bytes"].n_unique()) < 2:
            continue
        columns = variables(part)
        for text in DEFAULT_FORMULAS if formula is None else (formula,):
            parsed = parse_formula(text, columns)
            try:
                found.append(NamedRegression(dict(zip(_OVER_RANKS, name, strict=True)), regress(parsed, columns)))
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
