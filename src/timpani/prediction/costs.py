"""Costs of messages and of reductions, as a campaign's fitted curves of `latency` and `reduce_local` tell them."""

from timpani.models.fit import CurveFit
from timpani.schedules.simulation import NOT_APART, Costs, Line

LATENCY, REDUCTION = "latency", "reduce_local"
"""The operations that costs of messages, and of reduced bytes, are fitted to."""


def point_to_point_costs(curves: list[CurveFit]) -> Costs | None:
    """Hockney's α and β from the first curve of `latency`, in microseconds, and γ from that of `reduce_local`; None
    without a latency, and γ nothing without the other.

    A line for each regime of half round trips. An intercept or a slope under 0 is noise about nothing, and counts so.
    """
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, REDUCTION)
    )
    if latency is None:
        return None
    lines = tuple(
        Line(
            first_bytes=regime.first_bytes if number else 0,
            gap=max(regime.latency.value, 0.0),
            per_byte=max(regime.per_byte.value, 0.0),
        )
        for number, regime in enumerate(latency.regimes)
    )
    gamma = 0.0 if reduction is None else max(reduction.hockney.per_byte.value, 0.0)
    return Costs(reduced=gamma, messages=(*NOT_APART, lines))
