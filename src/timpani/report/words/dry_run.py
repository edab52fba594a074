"""What a campaign would do, in words: cells, launches, time and commands."""

import shlex
from pathlib import Path

from timpani.campaign.plan.plan import CampaignPlan, plan_notes
from timpani.study.sizes import show_sizes
from timpani.study.words import counted, show_seconds


def plan_lines(plan: CampaignPlan) -> list[str]:
    """Lines to print for a dry run."""
    study = plan.study
    starts = study.launches * len(plan.groups)
    racing = study.regret is not None
    lines = [
        f"{'at most ' if racing else ''}{counted(len(plan.cells), 'cell')} × {counted(study.launches, 'launch')} on "
        f"{plan.mpi}: {counted(starts, 'start')} of the MPI program, "
        + (_of_race(plan) if racing else f"about {show_seconds(plan.seconds)}"),
        *plan_notes(plan),
    ]
    for group in plan.groups:
        by_collective: dict[str, dict[str, set[int]]] = {}
        for planned in group.cells:
            cell = planned.cell
            by_collective.setdefault(cell.collective, {}).setdefault(cell.algorithm.label, set()).add(
                cell.message_bytes
            )
        lines.append("")
        shared = ", oversubscribed" if group.oversubscribed else ""
        cells = counted(len(group.cells), "cell")
        lines.append(
            f"{counted(group.ranks, 'rank')} by {group.placement}{shared}, {group.arguments.datatype}: {cells} a launch"
        )
        for collective, algorithms in by_collective.items():
            sizes = set().union(*algorithms.values())
            lines.append(f"  {collective}: {', '.join(algorithms)}; {show_sizes(sizes)}")
        to_run = plan.command(group, ("timpani-measure", "plan.txt", "samples.jsonl"), Path())
        settings = [f"{name}={value}" for name, value in to_run.environment.items()]
        lines.append("  " + shlex.join([*settings, *to_run.argv]))
    return lines


def _of_race(plan: CampaignPlan) -> str:
    """What a race takes, which its results decide: between two estimates, each with what it assumes."""
    spent = plan.most_seconds == plan.study.budget
    most = "the budget" if spent else "everything in all launches, each cell until its --slot ends"
    return (
        f"about {show_seconds(plan.least_seconds)} at least (the fewest launches of what it begins with, if all "
        f"converges at once), about {show_seconds(plan.most_seconds)} at most ({most})"
    )
