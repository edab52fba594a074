"""Measure a prepared campaign into its folder, with its progress shown."""

from dataclasses import replace
from pathlib import Path

from timpani.campaign.run import Outcome
from timpani.campaign.session import Session
from timpani.cli.progress import progress

STOPPED = 128
"""Exit status of who was stopped, plus the signal's number, as shells say it."""


def measure(session: Session, folder: Path, prove: bool, hang_after: float | None = None) -> Outcome:
    """What is missing of the campaign in `folder`; then, with `prove`, the messages of each cell."""
    with session.open(folder) as store, progress(session.plan, store.done) as observer:
        outcome = session.measure(store, observer, hang_after)
        if prove and outcome.ended == "complete":
            outcome = replace(session.prove(store, observer, hang_after), killed=outcome.killed)
    return outcome
