"""What a campaign would do, in words: cells, launches, time and commands."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.run.world_check import counting_at_once, seconds_to_check, starts_to_check
from timpani.campaign.run.world_times import MOST_PAIRS
from timpani.report.words.durations import show_seconds
from timpani.study.counted import counted
from timpani.study.sizes import show_sizes


def plan_lines(plan: CampaignPlan) -> list[str]:
    """Lines to print for a dry run."""
    study = plan.study
    starts = study.launches * len(plan.groups)
    racing = study.regret is not None
    lines = [
        f"{'at most ' if racing else ''}{counted(len(plan.cells), 'cell')} × {counted(study.launches, 'launch')} on "
        f"{plan.mpi}: {counted(starts, 'start')} of the MPI program, "
        + (_of_race(plan) if racing else f"about {show_seconds(plan.seconds)}"),
        *_check_of_shared_starts(plan),
        *plan.notes,
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
        fewer = ", ".join(map(str, group.rank_counts[:-1]))
        first = f", and the first {fewer} of them" if fewer else ""
        ranks = f"{counted(group.ranks, 'rank')}{first} by {group.placement}"
        lines.append(f"{ranks}{shared}, {group.datatype}: {cells} a launch")
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


def _check_of_shared_starts(plan: CampaignPlan) -> Iterator[str]:
    """What it takes beside, where rank counts share starts, to see that the library's own choices stay the same."""
    starts = 0 if plan.machine.simulated else starts_to_check(plan)
    if not starts:
        return
    seconds = seconds_to_check(plan)
    what = f"first {counted(starts, 'start')} to check the library's own choices on the first ranks of more"
    more = f"about {show_seconds(seconds)} beside that time"
    if counting_at_once(plan.mpi) is not None:
        how = f"by messages: {more}"
    else:
        most = f"up to {MOST_PAIRS * starts} starts and {show_seconds(MOST_PAIRS * seconds)} where they differ"
        how = f"by times: {more}, {most}"
    together = "; together no longer than the budget" if plan.study.budget is not None else ""
    yield f"{what}, {how}{together}"
