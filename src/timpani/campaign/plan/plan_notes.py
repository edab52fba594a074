"""What to know of a campaign before it runs, a sentence each."""

from collections.abc import Iterator
from itertools import chain

from timpani.campaign.plan.plan import CampaignPlan
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.host_list import ranks_on_one_node
from timpani.study.cell import Algorithm
from timpani.study.parameter_series import each_of
from timpani.study.study import ALL


def plan_notes(plan: CampaignPlan) -> Iterator[str]:
    """What nobody tried with the library, what stands in for what, what is left out, which ranks stay on one node, and
    what limits the answer."""
    study = plan.study
    for mpi in plan.libraries:
        yield from LIBRARIES[mpi.kind].caution(mpi)
    yield from (each.note for each in plan.skipped)
    for placement in study.placement:
        placed = [ranks for ranks in study.ranks if placement in study.placements_of(ranks)]
        yield from ranks_on_one_node(plan.machine, plan.hosts, placement, placed)
    if study.include_setup:
        yield "each call of an algorithm of Timpani's or a composed one includes its set-up"
    if plan.machine.simulated:
        yield from _of_simulation(plan)
    elif study.launches < (needed := plan.launches_needed) and study.regret is None:
        yield f"fewer than the {needed} launches that a comparison takes: --launches {needed} or more"


def _of_simulation(plan: CampaignPlan) -> Iterator[str]:
    together = f"; {plan.concurrent_launches} launches at a time" if plan.concurrent_launches > 1 else ""
    yield (
        f"simulated: one launch and one repetition, since all others would be equal{together}; its time is "
        "estimated for cores without other work; on more than 128 ranks it may take many times as long"
    )
    if single := sum(len(group.nodes) for group in plan.machine.groups if group.cores == 1):
        yield (
            f"each host of {plan.machine.name} is a node, {single} of them with one core: a property `node` joins "
            "hosts to one node (docs/how-to/simulate-a-cluster.md)"
        )
    for collective, same in LIBRARIES[plan.mpi.kind].algorithms.same_while_eager.items():
        there = [*dict.fromkeys(_named_among(plan, collective, same))]
        if len(there) > 1:
            yield (
                f"{collective}: {' and '.join(there)} differ in whether their sends wait, so they take the same "
                "simulated time while messages are small enough to be sent eagerly: a lab (--on lab) or a cluster can "
                "distinguish them there"
            )


def _named_among(plan: CampaignPlan, collective: str, names: tuple[str, ...]) -> Iterator[str]:
    """What the study calls those of the algorithms `names` that it measures."""
    library = LIBRARIES[plan.mpi.kind]
    for text in chain.from_iterable(map(each_of, plan.study.collectives.get(collective, ()))):
        if text == ALL:
            yield from names
        elif library.algorithms.measured(collective, text) in names:
            yield Algorithm.parse(text).plain
