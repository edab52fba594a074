"""Whether the library's own choice for some ranks depends on how many others there are: rank counts of which it does
keep starts of their own. What it sends tells; `world_times.py` has what its time tells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from timpani.campaign.folder.launch_result import Proof
from timpani.campaign.plan.estimate import cell_seconds, start_seconds
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.run.prove import Matrix, Prover
from timpani.libraries.library import Counting
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import Cell
from timpani.study.counted import counted
from timpani.study.operations import OPERATIONS

BUDGET_SHARE = 0.5
"""Of a budget of time, that the check may take: what it leaves is measured in."""

UNCHECKED = "half of the budget was spent before they were checked"
"""Why rank counts keep starts of their own that the check did not come to."""

_Sent = tuple[Matrix, Matrix] | None
"""Messages and bytes of a call; None where they couldn't be counted."""


def counting_at_once(mpi: Mpi) -> Counting | None:
    """How `mpi` counts the messages of many cells in one start; None where it can't, and times have to tell."""
    library = LIBRARIES[mpi.kind]
    counting = library.counting(mpi) if library.counting else None
    return None if counting is None or counting.at_exit else counting


def starts_to_check(plan: CampaignPlan) -> int:
    """In how many starts the defaults of `plan` that share starts are seen once among more ranks and once alone."""
    counts = [{each.cell.ranks for each in sharing_defaults(group)} for group in plan.groups]
    return sum(1 + len(each) for each in counts if each)


def seconds_to_check(plan: CampaignPlan) -> float:
    """About how long these starts take: with one call of each default where messages tell, else with its time and that
    of an algorithm of ours."""
    by_messages = counting_at_once(plan.mpi) is not None
    protocol = {"repetitions": 1, "warmup": 0} if by_messages else {"repetitions": None}
    study = plan.study.model_copy(update=protocol)
    found = 0.0
    for group in plan.groups:
        defaults = sharing_defaults(group)
        worlds = {each.cell.ranks for each in defaults} | ({group.ranks} if defaults else set())
        found += sum(start_seconds(plan.mpi.kind, ranks) for ranks in worlds)
        called = sum(cell_seconds(study, each.cell, group.oversubscribed) for each in defaults)
        found += 2 * (1 if by_messages else 2) * called
    return found


def sharing_defaults(group: Group) -> list[PlannedCell]:
    """The library's own choices that run on the first ranks of `group`; where nothing is moved, and on one rank, it has
    none."""
    return [
        each
        for each in group.cells
        if each.cell.algorithm.is_default
        and OPERATIONS[each.cell.collective].movement is not None
        and 1 < each.cell.ranks < group.ranks
    ]


def alone(group: Group, ranks: int) -> Group:
    """The cells of `group` on `ranks` ranks, in a start of their own."""
    return replace(group, ranks=ranks, cells=tuple(each for each in group.cells if each.cell.ranks == ranks))


def keep_apart(
    plan: CampaignPlan,
    differing: Callable[[Group], Mapping[int, str]],
    stop: Callable[[], bool],
    told: Callable[[str], None],
) -> CampaignPlan:
    """`plan`, with starts of their own for the rank counts that `differing` tells of a group, with why; `told` hears of
    them."""
    groups: list[Group] = []
    for group in plan.groups:
        apart = differing(group)
        if stop():
            return plan
        for ranks, why in sorted(apart.items()):
            told(f"starts of their own: {counted(ranks, 'rank')} by {group.placement}: {why}")
        groups += [replace(group, cells=tuple(each for each in group.cells if each.cell.ranks not in apart))]
        groups += [alone(group, ranks) for ranks in apart]
    return replace(plan, groups=tuple(groups))


def apart_by_messages(plan: CampaignPlan, prover: Prover, stop: Callable[[], bool]) -> CampaignPlan:
    """`plan`, with starts of their own for the rank counts whose defaults send other messages on the first ranks of a
    larger start than in one of their own, or couldn't be counted in both; `prover` tells which.

    `prover` stops where `stop` tells that the user wants an end, or the check's time is spent.
    """

    def differing(group: Group) -> dict[int, str]:
        defaults = sharing_defaults(group)
        beside_others = _sent(prover, group, defaults)
        apart: dict[int, str] = {}
        for ranks in sorted({each.cell.ranks for each in defaults}):
            own = _sent(prover, alone(group, ranks), [each for each in defaults if each.cell.ranks == ranks])
            ways = [(sent, beside_others[cell]) for cell, sent in own.items()]
            if any(sent != beside for sent, beside in ways if sent and beside):
                apart[ranks] = f"among {group.ranks} the library's own choice doesn't send the same messages"
            elif not all(sent and beside for sent, beside in ways):
                apart[ranks] = UNCHECKED if prover.stop() else "the library's own choice couldn't be counted both ways"
        return apart

    return keep_apart(plan, differing, stop, prover.told)


def _sent(prover: Prover, group: Group, cells: Sequence[PlannedCell]) -> dict[Cell, _Sent]:
    found: dict[Cell, _Sent] = dict.fromkeys(each.cell for each in cells)

    def keep(proof: Proof) -> None:
        found[proof.cell] = (proof.messages, proof.bytes)

    prover.count(group, list(cells), keep)
    return found
