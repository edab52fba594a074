"""Measure a prepared campaign into its folder, with its progress shown."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.cli.terminal.progress import progress
from timpani.study.cell import Cell

STOPPED = 128
"""Exit status of who was stopped, plus the signal's number, as shells say it."""


def measure(
    session: Session,
    folder: Path,
    prove: Callable[[Cell], bool] | None = None,
    hang_after: float | None = None,
) -> Outcome:
    """What is missing of the campaign in `folder`; then the messages of each cell that `prove` is true of."""
    with session.open(folder) as store, progress(session.plan, store.done) as observer:
        outcome = session.measure(store, observer, hang_after)
        if prove is not None and outcome.ended == "complete":
            outcome = replace(session.prove(store, observer, hang_after, prove), killed=outcome.killed)
    return outcome
