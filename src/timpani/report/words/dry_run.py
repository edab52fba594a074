"""What `timpani run` checks and prints besides times: figures asked for, what it would do, matrices of transposes."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from timpani.campaign.plan.plan import CampaignPlan, plan_notes
from timpani.campaign.run.prove import Matrices, Rows
from timpani.study.sizes import show_size, show_sizes
from timpani.study.study import Study
from timpani.study.words import counted, show_seconds


def runnable_study(what: Iterable[str], study: Study) -> Study:
    """The study of `what`; UserError where a file of the user's asks for a figure that does not exist."""
    file = next((name for name in what if name.endswith(".toml")), None)
    if file and study.figures:
        # Charts take longer to load than most commands take, and the shipped studies are tested.
        from timpani.report.figures.figure import check_figure_names

        check_figure_names(study.figures, file)
    return study


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


def matrix_lines(shown: Iterable[Matrices]) -> Iterator[str]:
    """Each matrix that was sent once, and under it each different one that arrived, with the ways that made it."""
    for (ranks, size, first), made in groupby(sorted(shown, key=_sent), _sent):
        yield f"transpose, {counted(ranks, 'rank')}, {show_size(size)}: the matrix that is sent"
        yield from _grid(first)
        by_last: dict[Rows, list[str]] = {}
        for each in made:
            by_last.setdefault(each.last, []).append(each.cell.algorithm.plain)
        for last, ways in by_last.items():
            yield f"what arrived by {', '.join(ways)}"
            yield from _grid(last)


def _sent(each: Matrices) -> tuple[int, int, Rows]:
    return each.cell.ranks, each.cell.message_bytes, each.first


def _grid(rows: Rows) -> Iterator[str]:
    width = max((len(str(number)) for row in rows for number in row), default=0)
    for row in rows:
        yield "  " + " ".join(f"{number:>{width}}" for number in row)
