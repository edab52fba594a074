"""What `timpani run` prints at its end, and its exit status."""

import shlex
from pathlib import Path

import typer

from timpani.campaign.activity import load_warnings
from timpani.campaign.load import load
from timpani.campaign.prove import indistinct
from timpani.campaign.run import Outcome
from timpani.campaign.table import estimate_cells
from timpani.report.message_summary import message_summary, summary_lines
from timpani.report.text import verdict_lines
from timpani.tuning.decide import decide
from timpani.tuning.verdict import summarise

_SIGNAL_STATUS = 128  # plus the signal's number, as shells say it


def print_ending(folder: Path, outcome: Outcome, signal_number: int | None) -> int:
    """Print the verdict of what was measured and where to read on."""
    if outcome.ended == "stopped":
        typer.echo(f"stopped: {outcome.missing} results are still missing; the same command goes on", err=True)
        return _SIGNAL_STATUS + (signal_number or 0)
    if outcome.ended == "budget":
        typer.echo(f"the budget is spent: {outcome.missing} results are missing; the same command goes on")
    campaign = load(folder)
    for warning in load_warnings(campaign.launches):
        typer.echo(f"Warning: {warning}")
    cells = estimate_cells(campaign.results)
    verdict = summarise(
        decide(campaign.results),
        cells,
        campaign.launch_seconds,
        campaign.header.study.launches,
        campaign.header.settings,
    )
    messages = message_summary(campaign, cells)
    typer.echo("\n".join(verdict_lines(verdict, summary_lines(messages) if messages else ())))
    for text in indistinct(campaign.proofs):
        typer.echo(f"not told apart by their messages: {text}")
    place = shlex.quote(str(folder))
    typer.echo(f"read on: timpani show {place}, timpani report {place} -o report.html")
    return 0
