"""Regressions as tables, on the page and in the terminal."""

from collections.abc import Iterator
from typing import Any

from timpani.report.document.table import Table, Value, rows
from timpani.report.words.fit_words import measured_curve
from timpani.stats.fit import Fit
from timpani.stats.regression import Regression
from timpani.stats.sample import LEVEL
from timpani.study.words import counted, four_digits, per_cent

INTERVAL = f"{per_cent(LEVEL)} interval"


def model_tables(fit: Fit) -> Iterator[tuple[dict[str, Any], Table]]:
    """The name of what each model is fitted to, and its table; details of values are intervals."""
    yield from ((each.name, _regression_table(each.model, measured_curve(each.name))) for each in fit.regressions)


def _regression_table(model: Regression, curve: str) -> Table:
    about = "mean" if model.formula.has_intercept else "0"
    unseen = (
        "no rank count can be left out"
        if model.cross_validated_error is None
        else f"{four_digits(model.cross_validated_error)} for rank counts left out"
    )
    undefined = [f"{counted(model.left_out, 'point')} left out: a term isn't defined there."] if model.left_out else []
    return Table(
        "regression",
        caption=f"{curve}: {model.formula}",
        notes=(
            f"{counted(model.observations, 'point')}, R² about {about} {model.r_squared:.3f}, AIC {model.aic:.0f}, "
            f"rms error {four_digits(model.error)}, {unseen}.",
            *undefined,
        ),
        columns=("Term", "Coefficient", "Standard error", "t", "p"),
        rows=rows(
            (
                each.term,
                Value(each.value, each.low, each.high, show=four_digits),
                *(Value(figure, show=four_digits) for figure in (each.standard_error, each.t, each.p_value)),
            )
            for each in model.coefficients
        ),
        annotation=INTERVAL,
    )
