"""A fit as JSON: docs/reference.md names the keys."""

from math import isfinite
from typing import Any

from timpani.report.fit.fit_context import FitContext
from timpani.stats.fit import CurveFit, Fit, Hockney, Regime
from timpani.stats.regression import NamedRegression
from timpani.stats.sample import Estimate
from timpani.stats.segments import Switch
from timpani.study.schema import LOCALITY, STATE

_S_PER_US = 1e-6


def fit_object(fit: Fit, context: FitContext) -> dict[str, Any]:
    """The output of `timpani fit --format json`, without predictions."""
    return {
        "curves": [_curve(each, context) for each in fit.curves],
        "regressions": [_regression(each) for each in fit.regressions],
        "library_limits": dict(context.limits),
        "clock_ghz": context.clock_ghz,
        "left_out": fit.left_out,
        "published": {
            table.name: {
                "title": table.title,
                "rows": list(table.rows),
                "comparisons": [each.as_object for each in table.compare(fit.regressions)],
            }
            for table in context.published
        },
    }


def _curve(fitted: CurveFit, context: FitContext) -> dict[str, Any]:
    variance = fitted.curve.launch_variance
    return {
        **fitted.name,
        STATE: fitted.state,
        LOCALITY: context.locality(fitted),
        "status": fitted.status,
        "launches": fitted.launches,
        "disturbed": [vars(each) for each in fitted.disturbed],
        "misses": [vars(each) for each in fitted.misses],
        "sizes": len(fitted.curve.sizes),
        "launch_deviation": finite(variance.value**0.5) if variance.degrees else None,
        "switches": [_switch(switch, fitted, context) for switch in fitted.switches],
        "hockney": _hockney(fitted.hockney, context.clock_ghz),
        "segments": [_regime(regime) for regime in fitted.regimes],
    }


def _switch(switch: Switch, fitted: CurveFit, context: FitContext) -> dict[str, Any]:
    return {
        "kind": "switch" if switch.jumps else "bend",
        "first_bytes": switch.first_bytes,
        "interval": [switch.above, switch.up_to],
        "evidence": finite(switch.evidence),
        "p_value": finite(switch.p_value),
        **_estimate("ratio", switch.ratio),
        "library_limits": context.limits_within(switch, fitted),
    }


def _hockney(model: Hockney, clock_ghz: float | None) -> dict[str, Any]:
    values = {
        **_time("latency_us", model.latency),
        **_estimate("us_per_byte", model.per_byte),
        **_estimate("throughput_mb_per_s", model.throughput),
        **_estimate("beta_s_per_byte", model.per_byte.scaled(_S_PER_US)),
    }
    if clock_ghz is not None:
        cycles = model.in_cycles(clock_ghz)
        values |= _time("alpha_cycles", cycles.latency) | _estimate("cycles_per_byte", cycles.per_byte)
    return values


def _regime(regime: Regime) -> dict[str, Any]:
    return {
        "first_bytes": regime.first_bytes,
        "last_bytes": regime.last_bytes,
        **_estimate("latency_us", regime.latency),
        **_estimate("us_per_byte", regime.per_byte),
        "interval_from": "launches" if regime.from_launches else "sizes",
    }


def _regression(named: NamedRegression) -> dict[str, Any]:
    model = named.model
    return {
        **named.name,
        "formula": str(model.formula),
        "observations": model.observations,
        "left_out": model.left_out,
        "coefficients": [
            {
                "term": each.term,
                "coefficient": finite(each.value),
                "std_err": finite(each.standard_error),
                "t": finite(each.t),
                "p": finite(each.p_value),
                "interval": [finite(each.low), finite(each.high)],
            }
            for each in model.coefficients
        ],
        "r_squared": finite(model.r_squared),
        "r_squared_about": "mean" if model.formula.has_intercept else "zero",
        "aic": finite(model.aic),
        "rms_error": finite(model.error),
        "rms_error_unseen_ranks": None if model.cross_validated_error is None else finite(model.cross_validated_error),
        "fitted": [finite(value) for value in model.fitted.tolist()],
        "residuals": [finite(value) for value in model.residuals.tolist()],
    }


def finite(number: float) -> float | None:
    """`number`, or None for an infinity or NaN, which JSON can't express."""
    return number if isfinite(number) else None


def _time(name: str, estimate: Estimate) -> dict[str, Any]:
    """A time from the intercept of a line; null if the intercept is 0 or less."""
    return _estimate(name, estimate) | ({} if estimate.value > 0 else {name: None})


def _estimate(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: finite(estimate.value), f"{name}_interval": [finite(estimate.low), finite(estimate.high)]}
