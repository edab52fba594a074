"""Which rank counts share starts of the MPI program: smaller ones run on the first ranks of a larger start.

The other ranks sleep meanwhile. Only what can't differ but by the library's own choice shares: the same places for
those ranks, by one way through the library (memory, or a network too), and nothing that may ask for the world.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import chain

from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.study.counted import counted
from timpani.study.operations import OPERATIONS


def share_starts(plan: CampaignPlan) -> CampaignPlan:
    """`plan` with as few starts as its rank counts can share, and what keeps the others apart."""
    alike: defaultdict[object, list[Group]] = defaultdict(list)
    for group in plan.groups:
        same = (group.placement, group.datatype, group.parameters, tuple(sorted(group.environment.items())))
        alike[same].append(group)
    apart: dict[str, None] = {}
    shared = []
    for groups in alike.values():
        open_groups: list[Group] = []  # those that are largest among what they share with
        for group in sorted(groups, key=lambda group: group.ranks, reverse=True):
            reasons = [_apart(plan, group, larger) for larger in open_groups]
            if "" not in reasons:
                open_groups.append(group)
                for why in reasons[-1:]:
                    what = f"{counted(group.ranks, 'rank')} by {group.placement}"
                    apart[f"starts of their own: {what}: {why}"] = None
                continue
            place = reasons.index("")
            open_groups[place] = _together(open_groups[place], group)
        shared += open_groups
    if len({group.ranks for group in plan.groups}) == 1:
        apart["--starts shared makes no difference: there is one rank count"] = None
    return replace(plan, groups=tuple(shared), starts=tuple(apart))


def _together(larger: Group, smaller: Group) -> Group:
    cells = sorted(chain(larger.cells, smaller.cells), key=lambda each: each.number)
    return replace(larger, cells=tuple(cells))


def _apart(plan: CampaignPlan, group: Group, larger: Group) -> str:
    """Why the cells of `group` can't run on the first ranks of `larger`, in words; nothing where they can."""
    if plan.study.rules or plan.study.tuned:
        return "rules and tuning files may decide by all ranks"
    if any(OPERATIONS[each.cell.collective].kind != "collective" for each in (*group.cells, *larger.cells)):
        return "only collectives share starts"
    if group.oversubscribed != larger.oversubscribed:
        return f"{larger.ranks} ranks share cores, and these don't"
    places, all_places = plan.asked(group), plan.asked(larger)
    if not (places or all_places) and len(plan.hosts) < 2:  # ranks that share the cores of this computer
        return ""
    if not places or places != all_places[: group.ranks]:
        return f"they are not where the first of {larger.ranks} are"
    if (len({each.host for each in places}) == 1) != (len({each.host for each in all_places}) == 1):
        return f"they are all on one node, and {larger.ranks} are not"
    return ""
