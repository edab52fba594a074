"""Campaigns whose budget is spent after a number of starts, however fast this machine is."""

from pathlib import Path

from timpani.campaign.run.run import Outcome, Runner
from timpani.campaign.run.session import Session
from timpani.native.build import build
from timpani.study.study import Study


class CountedStarts:
    """A campaign's observer, whose clock gains a second with each start."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.notes: list[str] = []

    def started(self, launch: int, group: object, cells: int) -> None:
        self.seconds += 1

    def measured(self, result: object) -> None: ...

    def note(self, text: str) -> None:
        self.notes.append(text)


def run_on_counted_starts(study: Study, folder: Path) -> Outcome:
    """Measure `study` into `folder`: its budget allows one start more than it has seconds."""
    session = Session.prepare(study, None, oversubscribe=False)
    observer = CountedStarts()
    with session.open(folder) as store:
        runner = Runner(
            plan=session.plan,
            store=store,
            programs=build,
            machine=session.plan.machine.name,
            observer=observer,
            stop=lambda: False,
            clock=lambda: observer.seconds,
        )
        return runner.run()
