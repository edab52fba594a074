"""Measure a prepared campaign into its folder, with its progress shown."""

from collections.abc import Callable
from pathlib import Path

import typer

from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.cli.terminal.ending import abandoned_status, stopped_status
from timpani.cli.terminal.progress import progress
from timpani.study.cell import Cell


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
