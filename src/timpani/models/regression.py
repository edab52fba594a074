"""Ordinary least squares of a formula, with cross-validation that leaves out one rank count at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import copysign, inf, log, pi

import numpy as np
from scipy.special import stdtr  # type: ignore[import-untyped]

from timpani.errors import UserError
from timpani.models.formula import Formula, term_name
from timpani.models.line import Array
from timpani.stats.mean import t_estimate


@dataclass(frozen=True)
class LeastSquares:
    """The fit of a response y by the terms x.

    values, standard_errors  of the coefficients, shape (terms,), in y's unit per the term's unit
    degrees                  of freedom of the residuals: rows − terms
    fitted, residuals        shape (rows,), in y's unit
    r_squared                about the mean if the terms contain a constant, else about 0
    aic                      Akaike's criterion for normal residuals; −∞ if all residuals are 0
    """

    values: Array
    standard_errors: Array
    degrees: int
    fitted: Array
    residuals: Array
    r_squared: float
    aic: float


def least_squares(x: Array, y: Array) -> LeastSquares:
    """Fit y, shape (rows,), by the columns of x, shape (rows, terms): more rows than terms, and independent terms."""
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
    return LeastSquares(
        values=values,
        standard_errors=standard_errors,
        degrees=rows - terms,
        fitted=fitted,
        residuals=residuals,
        r_squared=1 - squares / total if total > 0 else 0.0,
        aic=rows * (log(2 * pi * squares / rows) + 1) + 2 * terms if squares > 0 else -inf,
    )


def _contains_a_constant(x: Array) -> bool:
    """Whether some combination of the terms is the same in all rows."""
    with_ones = np.column_stack([x, np.ones(len(x))])
    rank = int(np.linalg.matrix_rank(with_ones))
    return rank == int(x.shape[1])


DEFAULT_FORMULAS = ("latency ~ ranks + size - 1", "log2(latency) ~ ranks + log2(size) - 1")
"""Without an intercept: only then do R² and t values agree with the published table (docs/notebook/regressions.md)."""


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
    r_squared              about the mean; without an intercept, about 0
    error                  root mean square of the residuals, in the response's unit
    design                 the value of each term, shape (observations, terms)
    ranks, sizes           of the rows used, shape (observations,)
    fitted                 fitted response, shape (observations,)
    residuals              response − fitted, shape (observations,)
    better                 the fit of a formula that describes the same rows far better; None where none was found
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
    better: "Regression | None" = None

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

    @property
    def bias_by_size(self) -> list[tuple[int, float]]:
        """The mean residual at each size, ascending, in the response's unit: about 0 where the formula is right."""
        sizes = np.unique(self.sizes)
        return [(int(size), float(self.residuals[self.sizes == size].mean())) for size in sizes]


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
    found = least_squares(x, y)
    return Regression(
        formula=formula,
        observations=len(used),
        left_out=len(response) - len(used),
        coefficients=tuple(_coefficients(formula, found)),
        r_squared=found.r_squared,
        aic=found.aic,
        error=_root_mean_square(found.residuals),
        design=x,
        ranks=columns["ranks"][used],
        sizes=columns["size"][used],
        fitted=found.fitted,
        residuals=found.residuals,
    )


def _coefficients(formula: Formula, found: LeastSquares) -> Iterator[Coefficient]:
    for term, value, error in zip(formula.terms, found.values, found.standard_errors, strict=True):
        t = float(value / error) if error > 0 else copysign(inf, value)
        p_value = 2 * float(stdtr(found.degrees, -abs(t)))
        interval = t_estimate(float(value), float(error), found.degrees)
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
