"""Whether the library's own choice for some ranks depends on how many others there are: what it sends tells."""

from collections.abc import Sequence
from dataclasses import replace

from timpani.campaign.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.prove import Matrix, Prover
from timpani.campaign.record import Proof
from timpani.study.cell import Cell
from timpani.study.counted import counted

_Sent = tuple[Matrix, Matrix] | None
"""Messages and bytes of a call; None where they couldn't be counted."""


def apart_by_messages(plan: CampaignPlan, prover: Prover) -> CampaignPlan:
    """`plan`, with starts of their own for the rank counts whose defaults send other messages on the first ranks of a
    larger start than in one of their own, or couldn't be counted in both; `prover` is told which."""
    groups: list[Group] = []
    for group in plan.groups:
        defaults = [each for each in group.cells if each.cell.algorithm.is_default and each.cell.ranks < group.ranks]
        beside_others = _sent(prover, group, defaults)
        apart: dict[int, Group] = {}
        for ranks in group.rank_counts[:-1]:
            own = tuple(each for each in group.cells if each.cell.ranks == ranks)
            alone = replace(group, ranks=ranks, cells=own)
            for cell, sent in _sent(prover, alone, [each for each in defaults if each.cell.ranks == ranks]).items():
                if sent is None or sent != beside_others[cell]:
                    apart[ranks] = alone
        if prover.stop():
            return plan
        for ranks in apart:
            prover.told(
                f"starts of their own: {counted(ranks, 'rank')} by {group.placement}: among {group.ranks} the "
                "library's own choice doesn't send the same messages"
            )
        groups += [replace(group, cells=tuple(each for each in group.cells if each.cell.ranks not in apart))]
        groups += apart.values()
    return replace(plan, groups=tuple(groups))


def _sent(prover: Prover, group: Group, cells: Sequence[PlannedCell]) -> dict[Cell, _Sent]:
    found: dict[Cell, _Sent] = dict.fromkeys(each.cell for each in cells)

    def keep(proof: Proof) -> None:
        found[proof.cell] = (proof.messages, proof.bytes)

    prover.count(group, list(cells), keep)
    return found
