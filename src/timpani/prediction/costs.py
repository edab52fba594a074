"""Costs of messages and of reductions, as a campaign's fitted curves of `latency` and `reduce_local` tell them."""

from collections.abc import Mapping, Sequence

from timpani.models.fit import CurveFit
from timpani.schedules.simulation import NOT_APART, Costs, Line, Relation

LATENCY, REDUCTION = "latency", "reduce_local"
"""The operations that costs of messages, and of reduced bytes, are fitted to."""


def point_to_point_costs(curves: Sequence[CurveFit], between: Mapping[Relation, CurveFit]) -> Costs | None:
    """Hockney's α and β from curves of `latency`, in microseconds, and γ from the first of `reduce_local`; None without
    a latency, and γ nothing without the other.

    between  the curve of each relation of two ranks; where none is known, the first holds for all
    """
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, REDUCTION)
    )
    if latency is None:
        return None
    gamma = 0.0 if reduction is None else max(reduction.hockney.per_byte.value, 0.0)
    if not between:
        return Costs(reduced=gamma, messages=(*NOT_APART, message_lines(latency)))
    farthest = max(between)
    lines = (message_lines(between[each]) if each in between else () for each in Relation if each <= farthest)
    return Costs(reduced=gamma, messages=tuple(lines))


def message_lines(latency: CurveFit) -> tuple[Line, ...]:
    """A line for each regime of half round trips, in microseconds.

    An intercept or a slope under 0 is noise about nothing, and counts so.
    """
    return tuple(
        Line(
            first_bytes=regime.first_bytes if number else 0,
            gap=max(regime.latency.value, 0.0),
            per_byte=max(regime.per_byte.value, 0.0),
        )
        for number, regime in enumerate(latency.regimes)
    )
