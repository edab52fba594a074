"""Regressions as tables, on the page and in the terminal."""

from collections.abc import Iterator
from typing import Any

from timpani.models.fit import Fit
from timpani.models.regression import Regression
from timpani.report.document.table import Table, Value, rows
from timpani.report.words.fit_words import measured_curve
from timpani.stats.interval import LEVEL
from timpani.study.sizes import show_size
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
            *_better_lines(model),
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


def _better_lines(model: Regression) -> list[str]:
    """The mean residuals that show a misfit, and the better formula with its figures; none where none was found."""
    better = model.better
    if better is None:
        return []
    by_size = model.bias_by_size
    lowest, highest = min(by_size, key=lambda each: each[1]), max(by_size, key=lambda each: each[1])
    shown = dict(sorted({by_size[0], lowest, highest, by_size[-1]}))
    means = ", ".join(f"{value:+.3g} at {show_size(size)}" for size, value in shown.items())
    return [
        f"This formula fits badly: its mean residuals of {model.formula.response} are {means}.",
        f"Better: --formula '{better.formula}': R² about mean {better.r_squared:.6f}, AIC {better.aic:.0f}, "
        f"rms error {four_digits(better.error)}",
    ]
