"""How a campaign's progress is shown: a live bar on a terminal, timestamped lines in a batch log."""

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.run import Observer
from timpani.cli.terminal.work import Work
from timpani.errors import printable
from timpani.study.cell import Cell
from timpani.study.sizes import show_size
from timpani.study.words import counted, show_seconds

_LINE_EVERY = 10.0  # seconds between two lines of a batch log


@contextmanager
def progress(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
    """An observer that writes to stderr; `done` are the cells and launches that have a result, perhaps more than
    are asked for now."""
    work = Work(plan, done, time.monotonic)
    if not sys.stderr.isatty():
        lines = _Lines(work)
        lines.note(f"{work.before} of {'at most ' if work.racing else ''}{work.total} measured{work.time_for_all()}")
        yield lines
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("measured{task.fields[left]}"),
        console=Console(stderr=True),
    )
    with bar:
        task = bar.add_task("starting", total=work.total, completed=work.before, left="")
        yield _Bar(bar, task, work)
        if bar.finished:
            bar.update(task, description="done", left=f", {show_seconds(work.elapsed)} in all")


class _Bar:
    def __init__(self, bar: Progress, task: TaskID, work: Work) -> None:
        self._bar = bar
        self._task = task
        self._work = work

    def started(self, launch: int, group: Group, cells: int) -> None:
        self._work.started()
        self._bar.update(self._task, description=f"launch {launch}, {counted(group.ranks, 'rank')}")

    def measured(self, result: LaunchResult) -> None:
        self._work.measured(result.cell)
        self._bar.update(self._task, advance=1, left=self._work.time_left())
        if result.error:
            self.note(_failure(result))

    def note(self, text: str) -> None:
        self._bar.console.print(printable(text), markup=False, highlight=False)


class _Lines:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._last = 0.0  # seconds of the work's clock

    def started(self, launch: int, group: Group, cells: int) -> None:
        self._work.started()
        self._state(f"launch {launch}, {counted(group.ranks, 'rank')}, {counted(cells, 'cell')}")

    def measured(self, result: LaunchResult) -> None:
        self._work.measured(result.cell)
        if result.error:
            self.note(_failure(result))
        else:
            self._state(f"launch {result.launch}, {counted(result.cell.ranks, 'rank')}")

    def note(self, text: str) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        print(f"{now} {printable(text)}", file=sys.stderr, flush=True)

    def _state(self, where: str) -> None:
        if self._work.elapsed - self._last >= _LINE_EVERY:
            self._last = self._work.elapsed
            self.note(f"{self._work.count} of {self._work.total} measured ({where}){self._work.time_left()}")


def _failure(result: LaunchResult) -> str:
    cell = result.cell
    first = (result.error or "").splitlines()[0]
    where = f"{counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}, launch {result.launch}"
    return f"failed: {cell.collective} {cell.algorithm.label}, {where}: {first}"
