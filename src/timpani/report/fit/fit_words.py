"""How what was fitted is named, and its numbers are written."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from timpani.report.document.blocks import Table, Value, rows
from timpani.report.tables.conditions import conditions_of
from timpani.stats.fit import CurveFit, Fit
from timpani.stats.regression import Regression
from timpani.stats.sample import LEVEL, Estimate
from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.sizes import show_size
from timpani.study.words import counted, four_digits, per_cent

_MAX_NAMED = 3
"""Of times or sizes that have the same fault."""

MAX_CURVES = 40
"""Curves, of one collective, mode and machine or of all predictions, that are printed one by one where no details are
asked for."""


def algorithm_of(name: Mapping[str, Any]) -> str:
    """The algorithm with its parameters, as tables and figures call it."""
    parameters = parse_parameters(name["parameters"])
    return Algorithm(name["provider"], name["algorithm"], parameters, name["variant"]).label


def measured_curve(name: Mapping[str, Any]) -> str:
    """`bcast binomial, placed by core, cache warm, machine desk`: what a model is fitted to."""
    return f"{name['collective']} {algorithm_of(name)}, {conditions_of(name)}"


def estimate_value(estimate: Estimate) -> Value:
    """A time or rate from a fitted line with its interval; `unknown` if the line misses its points, or its intercept or
    slope is <= 0."""
    content = estimate.value if 0 < estimate.value < inf else "unknown"
    return Value(content, estimate.low, estimate.high, show=four_digits)


def disturbed_words(fitted: CurveFit) -> str:
    """The disturbed times to which the lines are not fitted; empty without disturbed times."""
    if not fitted.disturbed:
        return ""
    return f"{disturbed_share(fitted)} launch times, far from the median of their size: {disturbed_times(fitted)}"


def disturbed_share(fitted: CurveFit) -> str:
    """`3 of 54`: how many of the launch times are disturbed."""
    return f"{len(fitted.disturbed)} of {int(fitted.measured.counts.sum())}"


def disturbed_times(fitted: CurveFit) -> str:
    """The first disturbed times with their sizes and medians."""
    times = [
        f"{four_digits(each.time_us)} µs at {show_size(each.message_bytes)}, median {four_digits(each.median_us)} µs"
        for each in fitted.disturbed
    ]
    return _first_few(times, "; ")


def miss_words(fitted: CurveFit) -> str:
    """The sizes at which the lines miss the measured medians, and by how much; empty if they miss none."""
    off = [f"{each.fitted_us / each.median_us - 1:+.0%} at {show_size(each.message_bytes)}" for each in fitted.misses]
    return f"the fitted line is off the measured median by {_first_few(off, ', ')}" if off else ""


def _first_few(parts: list[str], between: str) -> str:
    more = [f"and {len(parts) - _MAX_NAMED} more"] if len(parts) > _MAX_NAMED else []
    return between.join([*parts[:_MAX_NAMED], *more])


def switch_words(fitted: CurveFit) -> str:
    """Where the curve jumps, by how much, and where it bends only; empty where it is one line."""
    return ", ".join(
        f"{show_size(each.first_bytes)} ×{four_digits(each.ratio.value)}"
        if each.jumps
        else f"bend at {show_size(each.first_bytes)}"
        for each in fitted.switches
    )


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
