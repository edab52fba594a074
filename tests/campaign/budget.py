"""Campaigns whose budget is spent after a number of starts, however fast this machine is."""

from pathlib import Path

from timpani.campaign.run.run import Outcome, Runner
from timpani.campaign.run.session import Session
from timpani.native.build import build
from timpani.study.study import Study

START_S = 3600.0
"""A start on the clock of `CountedStarts`: far longer than one here, whose points may begin for what is left of it."""


class CountedStarts:
    """A campaign's observer, whose clock gains seconds with each start and each result."""

    def __init__(self, start_s: float = START_S, result_s: float = 0.0) -> None:
        self.seconds = 0.0
        self._start_s, self._result_s = start_s, result_s
        self.notes: list[str] = []

    def started(self, group: object) -> None:
        self.seconds += self._start_s

    def measured(self, result: object) -> None:
        self.seconds += self._result_s

    def note(self, text: str) -> None:
        self.notes.append(text)


def run_on_counted_starts(study: Study, folder: Path, start_s: float = START_S, result_s: float = 0.0) -> Outcome:
    """Measure `study` into `folder`: its budget counts these seconds for each start and each result."""
    session = Session.prepare(study, None, oversubscribe=False)
    observer = CountedStarts(start_s, result_s)
    with session.open(folder) as store:
        runner = Runner(
            plan=session.plan,
            store=store,
            programs=build,
            observer=observer,
            stop=lambda: False,
            clock=lambda: observer.seconds,
        )
        return runner.run()
