"""What `timpani run` prints at its end, and its exit status."""

import shlex
from pathlib import Path

import typer

from timpani.campaign.folder.load import load
from timpani.campaign.read.campaign_warnings import without_effect
from timpani.campaign.read.study_names import with_study_names
from timpani.campaign.run.prove import indistinct
from timpani.campaign.run.run import Outcome
from timpani.native.announce import working
from timpani.report.document.text import text_of
from timpani.report.verdict.verdict_text import verdict_document
from timpani.study.words import counted

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
