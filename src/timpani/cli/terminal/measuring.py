"""Measuring as it is shown: the plan before it, its progress, and its end with the exit status."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import typer

from timpani.campaign.folder.load import load
from timpani.campaign.plan.plan import CampaignPlan, Group, plan_notes
from timpani.campaign.read.campaign_warnings import without_effect
from timpani.campaign.read.study_names import with_study_names
from timpani.campaign.run.prove import Matrices, Rows, indistinct
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.cli.terminal.progress import progress
from timpani.native.announce import working
from timpani.report.document.blocks import Block, Heading, NextCommand, Sentence
from timpani.report.document.text import text_of
from timpani.report.verdict.verdict_text import verdict_document
from timpani.study.cell import Cell
from timpani.study.sizes import show_size, show_sizes
from timpani.study.words import counted, show_seconds


def print_plan(plan: CampaignPlan) -> None:
    """Print what would be measured, for a dry run."""
    typer.echo(text_of([*plan_blocks(plan)]), nl=False)


def plan_blocks(plan: CampaignPlan) -> Iterator[Block]:
    """Cells, starts and time of all groups of ranks, then the cells and the command of each."""
    study, racing = plan.study, plan.study.regret is not None
    yield Sentence(
        "plan",
        f"{'at most ' * racing}{counted(len(plan.cells), 'cell')} × {counted(study.launches, 'launch')} on {plan.mpi}: "
        f"{counted(study.launches * len(plan.groups), 'start')} of the MPI program, "
        + (_of_race(plan) if racing else f"about {show_seconds(plan.seconds)}"),
        {"cells": len(plan.cells), "launches": study.launches},
    )
    yield from (Sentence("note", note) for note in plan_notes(plan))
    for group in plan.groups:
        where = f"by {group.placement}{', oversubscribed' * group.oversubscribed}, {group.arguments.datatype}"
        cells = counted(len(group.cells), "cell")
        yield Heading("group", f"{counted(group.ranks, 'rank')} {where}: {cells} a launch")
        yield from _of_group(group)
        to_run = plan.command(group, ("timpani-measure", "plan.txt", "samples.jsonl"), Path())
        settings = [f"{name}={value}" for name, value in to_run.environment.items()]
        yield NextCommand("command", shlex.join([*settings, *to_run.argv]), depth=1)


def _of_group(group: Group) -> Iterator[Block]:
    """The algorithms and sizes of each collective."""
    measured: dict[str, tuple[dict[str, None], set[int]]] = {}
    for cell in (planned.cell for planned in group.cells):
        algorithms, sizes = measured.setdefault(cell.collective, ({}, set()))
        algorithms[cell.algorithm.label] = None
        sizes.add(cell.message_bytes)
    for collective, (algorithms, sizes) in measured.items():
        yield Sentence("cells", f"{collective}: {', '.join(algorithms)}; {show_sizes(sizes)}", depth=1)


def _of_race(plan: CampaignPlan) -> str:
    """What a race takes, which its results decide: between two estimates, each with what it assumes."""
    spent = plan.most_seconds == plan.study.budget
    most = "the budget" if spent else "if no algorithm is dropped and each cell takes its whole --slot"
    return (
        f"at least about {show_seconds(plan.least_seconds)} (if few launches decide and every cell converges at once), "
        f"at most about {show_seconds(plan.most_seconds)} ({most})"
    )


def matrix_blocks(shown: Iterable[Matrices]) -> Iterator[Block]:
    """Each matrix that was sent once, and under it each different one that arrived, with the ways that made it."""
    for (ranks, size, first), made in groupby(sorted(shown, key=_sent), _sent):
        yield Sentence("sent", f"transpose, {counted(ranks, 'rank')}, {show_size(size)}: the matrix that is sent")
        yield from _grid(first)
        by_last: dict[Rows, list[str]] = {}
        for each in made:
            by_last.setdefault(each.last, []).append(each.cell.algorithm.plain)
        for last, ways in by_last.items():
            yield Sentence("arrived", f"what arrived by {', '.join(ways)}")
            yield from _grid(last)


def _sent(each: Matrices) -> tuple[int, int, Rows]:
    return each.cell.ranks, each.cell.message_bytes, each.first


def _grid(rows: Rows) -> Iterator[Block]:
    width = max((len(str(number)) for row in rows for number in row), default=0)
    yield from (Sentence("row", " ".join(f"{number:>{width}}" for number in row), depth=1) for row in rows)


def measure_or_exit(
    session: Session,
    folder: Path,
    prove: Callable[[Cell], bool] | None,
    advice: Callable[[Path], str],
    spent: str = "",
) -> Outcome:
    """Measure a campaign of a workflow; exit when it was stopped, and advise where launches were killed.

    spent  as of `stopped_status`
    """
    typer.echo(f"measuring into {folder}", err=True)
    outcome = session.complete(folder, progress, prove)
    if stopped := stopped_status(outcome, session.stopped, spent):
        raise typer.Exit(stopped)
    abandoned_status(outcome, advice(folder))
    return outcome


STOPPED = 128
"""Exit status of a command that a signal stopped, plus the signal's number, as shells report it."""

RESUMES = "the same command continues"

_ABANDONED = 1


def print_ending(folder: Path, outcome: Outcome, signal_number: int | None) -> int:
    """Print the verdict of what was measured and where to read on."""
    if stopped := stopped_status(outcome, signal_number):
        return stopped
    with working("reading what was measured"):
        campaign = load(folder)
        verdict = text_of(verdict_document(with_study_names(campaign)).blocks)
    typer.echo(verdict, nl=False)
    for text in indistinct(campaign.proofs):
        typer.echo(f"not distinguishable by their messages: {text}")
    for text in without_effect(campaign.proofs):
        typer.echo(f"Warning: {text}", err=True)
    place = shlex.quote(str(folder))
    typer.echo(f"read on: timpani show {place}, timpani report {place}")
    return abandoned_status(outcome, "measure them into another folder")


def stopped_status(outcome: Outcome, signal_number: int | None, spent: str = "") -> int:
    """Say that a signal or the budget ended a campaign early; the exit status where it was a signal, else 0.

    spent  printed where the budget ended it; empty: what is missing, and that the command continues
    """
    if outcome.ended == "stopped":
        typer.echo(f"stopped: {_missing_text(outcome)}; {RESUMES}", err=True)
        return STOPPED + (signal_number or 0)
    if outcome.ended == "budget":
        points = counted(outcome.unreached, "point")
        unreached = f"the race had not come to {points} (collective, ranks, size) yet" if outcome.unreached else ""
        left = "; ".join(filter(None, (_missing_text(outcome), unreached)))
        typer.echo(spent or f"the budget is spent: {left}; {RESUMES}")
    return 0


def _missing_text(outcome: Outcome) -> str:
    """What is left to measure. Of a race only the maximum number of launches is known."""
    results = counted(outcome.missing, "result")
    if outcome.further is None:
        return f"{results} still missing"
    further = f", and up to {counted(outcome.further, 'further launch')}" if outcome.further else ""
    return f"{results} of the launch under way still missing{further}"


def abandoned_status(outcome: Outcome, step: str) -> int:
    """Print which cells were abandoned because their launches were killed, and what to do. Returns the exit status:
    0 if there are no such cells."""
    if not outcome.killed:
        return 0
    typer.echo(
        f"abandoned: {counted(outcome.killed, 'cell')}, since their launches were killed from outside, by a user "
        f"or by the kernel when memory ran out; {step}",
        err=True,
    )
    return _ABANDONED
