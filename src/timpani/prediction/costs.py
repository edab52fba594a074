"""α, β and γ: what a message, its bytes and their reduction take, from a campaign's fitted curves."""

from dataclasses import dataclass

from timpani.models.fit import CurveFit
from timpani.models.hockney import Regime
from timpani.schedules.simulation import Costs

LATENCY, REDUCTION = "latency", "reduce_local"
"""The operations that α and β, and γ, are fitted to."""


@dataclass(frozen=True)
class MessageCosts:
    """Costs by message size, microseconds.

    regimes  of the curve of half round trips: α and β of each
    gamma    a byte of MPI_Reduce_local; None where it was not measured, and counted as nothing
    """

    regimes: list[Regime]
    gamma: float | None

    def at(self, message_bytes: int) -> Costs:
        """The costs in the regime of a size. An intercept or a slope under 0 is noise about nothing, and counts so."""
        later = [regime for regime in self.regimes if regime.first_bytes <= message_bytes]
        regime = later[-1] if later else self.regimes[0]
        return Costs(max(regime.latency.value, 0.0), max(regime.per_byte.value, 0.0), self.gamma or 0.0)


def message_costs(curves: list[CurveFit]) -> MessageCosts | None:
    """The costs from the first curve of `latency` and of `reduce_local`; None without a latency."""
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, REDUCTION)
    )
    if latency is None:
        return None
    gamma = None if reduction is None else max(reduction.hockney.per_byte.value, 0.0)
    return MessageCosts(latency.regimes, gamma)
