"""How a campaign's progress is shown: a live bar on a terminal, timestamped lines in a batch log."""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.estimate import TimeLeft
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.run import Observer
from timpani.errors import printable
from timpani.native.announce import working
from timpani.study.cell import Cell
from timpani.study.sizes import show_size
from timpani.study.words import counted, show_range, show_seconds


class Work:
    """What a campaign measures: `total` results, of which `before` had been measured when it began, and `count` have
    been now. `clock` gives seconds.

    Of a race `total` is the most that it may measure.
    """

    def __init__(self, plan: CampaignPlan, done: Collection[tuple[Cell, int]], clock: Callable[[], float]) -> None:
        self._plan = plan
        self.clock = clock
        self._budget = plan.study.budget
        self._seconds = plan.expected_seconds
        launches = plan.study.launches
        measured = [cell for cell, launch in done if cell in self._seconds and launch <= launches]
        self.total = len(self._seconds) * launches
        self.before = self.count = len(measured)
        self.racing = plan.study.regret is not None
        self._expected = launches * sum(self._seconds.values()) - sum(self._seconds[cell] for cell in measured)
        self._left = TimeLeft(self._expected)
        self._began: float | None = None

    @property
    def cells(self) -> Collection[Cell]:
        """The cells that each launch measures."""
        return self._seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the first start. The time before it does not count: programs are built."""
        return 0.0 if self._began is None else self.clock() - self._began

    def started(self) -> None:
        """A start begins."""
        self._began = self.clock() if self._began is None else self._began

    def measured(self, cell: Cell) -> None:
        """One more result; before the first start one that a killed command had measured, which says nothing about
        this command's speed."""
        self.count += 1
        seconds = self._seconds.get(cell, 0.0)
        if self._began is None:
            self._expected -= seconds
            self._left = TimeLeft(self._expected)
        else:
            self._left.add(seconds, self.elapsed)

    def time_for_all(self) -> str:
        """About how long all of it takes, before any of it is measured; as `time_left`."""
        if self.count >= self.total:
            return ""
        if self.racing:
            return f", in at most {show_seconds(self._plan.most_seconds)}"
        left = self._left.left(0.0)
        if self._budget is not None and left.high > self._budget:
            return f", within the budget of {show_seconds(self._budget)}"
        return f", {show_range(left.low, left.high)} for all"

    def time_left(self) -> str:
        """The time that the rest takes, with a comma before it; empty where nothing is left."""
        left = self._left.left(self.elapsed)
        if self.count >= self.total:
            return ""
        if self._budget is not None:
            of_budget = self._budget - self.elapsed
            if of_budget <= 0:
                return ", the budget is spent: no further start begins"
            if left.high > of_budget:
                return f", {show_seconds(of_budget)} of the budget left"
        return (
            f", at most {show_seconds(left.high)} left" if self.racing else f", {show_range(left.low, left.high)} left"
        )


_LINE_EVERY = 10.0  # seconds between two lines of a batch log


@contextmanager
def progress(
    plan: CampaignPlan, done: Collection[tuple[Cell, int]], clock: Callable[[], float] = time.monotonic
) -> Iterator[Observer]:
    """An observer that writes to stderr; `done` are the cells and launches that have a result, perhaps more than
    are asked for now."""
    work = Work(plan, done, clock)
    if not sys.stderr.isatty():
        lines = _Lines(work)
        total = f"{'at most ' if work.racing else ''}{counted(work.total, 'result')}"
        before = f", {work.before} of them measured before" if work.before else ""
        lines.note(f"{total} to measure{before}{work.time_for_all()}")
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

    def started(self, group: Group) -> None:
        self._work.started()
        self._bar.update(self._task, description=counted(group.ranks, "rank"))

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
        self._last = work.clock()

    def started(self, group: Group) -> None:
        self._work.started()

    def measured(self, result: LaunchResult) -> None:
        self._work.measured(result.cell)
        now = self._work.clock()
        if result.error:
            self.note(_failure(result))
        elif now - self._last >= _LINE_EVERY:
            self._last = now
            done = f"{self._work.count} of {self._work.total} measured"
            self.note(f"{done} ({counted(result.cell.ranks, 'rank')}){self._work.time_left()}")

    def note(self, text: str) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        print(f"{now} {printable(text)}", file=sys.stderr, flush=True)


def _failure(result: LaunchResult) -> str:
    cell = result.cell
    first = (result.error or "").splitlines()[0]
    where = f"{counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}, launch {result.launch}"
    return f"failed: {cell.collective} {cell.algorithm.label}, {where}: {first}"


@contextmanager
def share_bar(doing: str) -> Iterator[Callable[[float], None]]:
    """A bar with the remaining time on a terminal, else a line every 10 s. Call it with the finished share after each
    step."""
    if not sys.stderr.isatty():
        with working(doing):
            yield lambda share: None
        return
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share: bar.advance(task, share)
