"""How a campaign's progress is shown: a live bar on a terminal, timestamped lines in a batch log."""

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from math import inf

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.observer import Observer
from timpani.errors import printable
from timpani.report.words.durations import show_seconds
from timpani.study.cell import Cell
from timpani.study.counted import counted
from timpani.study.sizes import show_size

_LINE_EVERY = 10.0  # seconds between two lines of a batch log


@contextmanager
def progress(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
    """An observer that writes to stderr; `done` are the cells and launches that have a result, perhaps more than
    are asked for now."""
    total = len(plan.cells) * plan.study.launches
    cells = {planned.cell for planned in plan.cells}
    measured = sum(cell in cells and launch <= plan.study.launches for cell, launch in done)
    racing = plan.study.regret is not None
    if not sys.stderr.isatty():
        lines = _Lines(total, measured, "at most" if racing else "about", plan.study.budget)
        seconds = (
            f"at most about {show_seconds(plan.most_seconds)}" if racing else f"about {show_seconds(plan.seconds)}"
        )
        lines.note(f"{measured} of {'at most ' if racing else ''}{total} measured, {seconds} for all")
        yield lines
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("measured,"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.fields[time]}"),
        console=Console(stderr=True),
    )
    with bar:
        task = bar.add_task("starting", total=total, completed=measured, time="left at most" if racing else "left")
        yield _Bar(bar, task)
        if bar.finished:
            bar.update(task, description="done", time="in all")


class _Bar:
    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def started(self, launch: int, group: Group, cells: int) -> None:
        self._bar.update(self._task, description=f"launch {launch}, {counted(group.ranks, 'rank')}")

    def measured(self, result: LaunchResult) -> None:
        self._bar.advance(self._task)
        if result.error:
            self.note(_failure(result))

    def note(self, text: str) -> None:
        self._bar.console.print(printable(text), markup=False, highlight=False)


class _Lines:
    def __init__(self, total: int, measured: int, estimate: str, budget: float | None) -> None:
        self._total = total
        self._estimate = estimate
        self._deadline = inf if budget is None else time.monotonic() + budget
        self._before = self._measured = measured
        self._began = self._last = time.monotonic()

    def started(self, launch: int, group: Group, cells: int) -> None:
        if self._measured == self._before:  # what building the programs took is no measure of what is left
            self._began = self._last = time.monotonic()
        if time.monotonic() - self._last >= _LINE_EVERY:
            self._state(f"launch {launch}, {counted(group.ranks, 'rank')}, {counted(cells, 'cell')}")

    def measured(self, result: LaunchResult) -> None:
        self._measured += 1
        if result.error:
            self.note(_failure(result))
        elif time.monotonic() - self._last >= _LINE_EVERY:
            self._state(f"launch {result.launch}, {counted(result.cell.ranks, 'rank')}")

    def note(self, text: str) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        print(f"{now} {printable(text)}", file=sys.stderr, flush=True)

    def _state(self, where: str) -> None:
        self._last = time.monotonic()
        done = self._measured - self._before
        left = (self._last - self._began) / done * (self._total - self._measured) if done else inf
        left = max(0.0, min(left, self._deadline - self._last))
        estimate = f", {self._estimate} {show_seconds(left)} left" if left < inf else ""
        self.note(f"{self._measured} of {self._total} measured ({where}){estimate}")


def _failure(result: LaunchResult) -> str:
    cell = result.cell
    first = (result.error or "").splitlines()[0]
    return (
        f"failed: {cell.collective} {cell.algorithm}, {counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}, "
        f"launch {result.launch}: {first}"
    )
