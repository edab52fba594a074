"""Costs of messages and of reductions, from a campaign's fitted curves of `latency` and `reduce_local`."""

from collections.abc import Mapping, Sequence

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cell_table import estimate_cells
from timpani.campaign.read.message_locality import localities_of, locality_of
from timpani.machine.nodes.locality import DIFFERENT_NODES, DIFFERENT_SWITCH, LEVELS, SAME_NODE, SAME_SWITCH
from timpani.models.fit import CurveFit, fit
from timpani.schedules.simulation import NO_CLOSER_LINES, CostLine, Costs, Relation

LATENCY, REDUCTION = "latency", "reduce_local"
"""The operations that give the costs of messages and of reduced bytes."""


_RELATIONS = {
    **dict.fromkeys((LEVELS["core"], LEVELS["last_level_cache"]), Relation.cache),
    LEVELS["socket"]: Relation.socket,
    SAME_NODE: Relation.node,
    **dict.fromkeys((SAME_SWITCH, DIFFERENT_NODES), Relation.group),  # nodes with an unknown switch form one group
    DIFFERENT_SWITCH: Relation.groups,
}
"""The relation for each entry of LOCALITIES."""


def costs_of_pairs(campaigns: Sequence[Campaign]) -> tuple[Costs | None, frozenset[Relation]]:
    """Costs of messages between two ranks, and how close these ranks were (empty if unknown). The first curve of each
    relation is used."""
    curves: list[CurveFit] = []
    between: dict[Relation, CurveFit] = {}
    for campaign in campaigns:
        if not campaign.results["collective"].is_in([LATENCY, REDUCTION]).any():
            continue
        plain = campaign.of_variant()
        found = fit(plain.results, estimate_cells(plain.raced), f"{campaign.folder}/results.jsonl").curves
        localities = localities_of(campaign)
        for curve in found:
            relation = _RELATIONS.get(locality_of(curve.name, localities) or "")
            if curve.name["collective"] == LATENCY and relation is not None:
                between.setdefault(relation, curve)
        curves += found
    return point_to_point_costs(curves, between), frozenset(between)


def point_to_point_costs(curves: Sequence[CurveFit], between: Mapping[Relation, CurveFit]) -> Costs | None:
    """Costs from measured curves: Hockney's α and β from `latency`, in microseconds, and γ from the first
    `reduce_local`.

    None without a `latency` curve; γ is 0 without a `reduce_local` curve.

    between  the curve of each relation of two ranks; if empty, the first `latency` curve holds for all
    """
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, REDUCTION)
    )
    if latency is None:
        return None
    gamma = 0.0 if reduction is None else max(reduction.regimes[-1].per_byte.value, 0.0)
    if not between:
        return Costs(reduced=gamma, messages=(*NO_CLOSER_LINES, message_lines(latency)))
    farthest = max(between)
    lines = (message_lines(between[each]) if each in between else () for each in Relation if each <= farthest)
    return Costs(reduced=gamma, messages=tuple(lines))


def message_lines(latency: CurveFit) -> tuple[CostLine, ...]:
    """A cost line for each regime of half round trips, in microseconds.

    Negative intercepts and slopes are noise around 0, and count as 0.
    """
    return tuple(
        CostLine(
            first_bytes=regime.first_bytes if number else 0,
            gap=max(regime.latency.value, 0.0),
            per_byte=max(regime.per_byte.value, 0.0),
        )
        for number, regime in enumerate(latency.regimes)
    )
