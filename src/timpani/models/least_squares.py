"""Ordinary least squares with standard errors, R² and Akaike's criterion."""

from dataclasses import dataclass
from math import inf, log, pi

import numpy as np

from timpani.models.line import Array


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
