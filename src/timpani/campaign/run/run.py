"""Run a campaign: measure every cell in every launch, and continue after launches that died or hung."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, Protocol

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.raw_record import RawLine, cell_under_way
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.count_limits import buffer_bytes
from timpani.campaign.plan.estimate import CELL_SECONDS, start_seconds
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.plan_text import plan_text
from timpani.campaign.run.agenda import Failures, agenda_of
from timpani.campaign.run.cell_result import failed, result_of, take_over
from timpani.campaign.run.launch import TEMPORARY_KIND, Ended, Task, one_line, run_concurrently
from timpani.campaign.run.start import Programs, Starter
from timpani.errors import UserError
from timpani.libraries.library import Command
from timpani.native.held_folder import remove_temporaries
from timpani.study.cell import DEFAULT, Cell
from timpani.study.point_weights import Point
from timpani.study.words import counted


class Observer(Protocol):
    """Callbacks for a campaign's progress."""

    def started(self, group: Group) -> None:
        """The MPI program was started for cells of `group`."""

    def measured(self, result: LaunchResult) -> None:
        """A result, after it was recorded."""

    def note(self, text: str) -> None:
        """Something worth knowing that is no result."""


Observing = Callable[[CampaignPlan, Collection[tuple[Cell, int]]], AbstractContextManager[Observer]]
"""An observer of a campaign, from its plan and the cells and launches that have a result already."""


MIN_TIMEOUT = 30.0
"""A launch counts as hung after this many seconds without output, or more for long calls."""

_MIN_TIMEOUT_FIXED_REPETITIONS = 600.0
"""With fixed repetitions, no time limit ends a cell."""
_MIN_TIMEOUT_SIMULATED = 3600.0
"""A simulated call of hundreds of ranks takes minutes. SimGrid reports deadlocks itself."""
_TIMEOUT_FACTOR = 20.0
"""The timeout as a multiple of a cell's expected time."""
_MIN_BANDWIDTH = 25e6
"""A call that handles the buffers of all ranks with fewer bytes per second counts as hung."""
_MIN_TIME_LIMIT = 0.002
"""Seconds per cell. A budget that leaves less stops the campaign, since the results would be poor."""
_LAUNCH_SHARE = 1 / 8
"""Share of the budget of a race for a program within which the points of a launch may begin. Points with most of the
program's time come first in each launch, so these have enough launches for a comparison, however slow calls are."""
_MAX_FAILED_STARTS = 2
"""The campaign is abandoned after this many consecutive failed starts. Launchers fail now and then: one is repeated."""


@dataclass(frozen=True)
class Outcome:
    """How a campaign ended: complete, stopped by a signal, or out of budget, with results still missing.

    missing    results; for a race only those of the current launch, since its results decide what later ones measure
    killed     cells that were abandoned because their launches were killed from outside
    unreached  points that a race had not started when its budget was spent
    further    maximum number of launches of a race after the current one; None for other campaigns
    """

    ended: Literal["complete", "stopped", "budget"]
    missing: int
    killed: int = 0
    unreached: int = 0
    further: int | None = None


@dataclass
class Runner:
    """A campaign under way. `programs` gives each library's native programs; `stop` is true once the user wants an end.

    A budget counts from when this is made, in seconds of `clock`.
    """

    plan: CampaignPlan
    store: Store
    programs: Programs
    observer: Observer
    stop: Callable[[], bool]
    hang_after: float | None = None
    clock: Callable[[], float] = time.monotonic
    _failed_starts: int = 0
    _began: float = 0.0
    _expected_s: float = 0.0

    def __post_init__(self) -> None:
        budget = self.plan.study.budget
        self._deadline = None if budget is None else self.clock() + budget
        self._launch_s = _LAUNCH_SHARE * budget if budget is not None and self.plan.study.goals else inf
        self._newest_launch = 1
        self._agenda = agenda_of(self.plan)
        for result in self.store.results:
            self._agenda.take(result)
            self._newest_launch = max(self._newest_launch, result.launch)
        self._starter = Starter(self.plan, self.store, self.programs, self.stop, self.observer.note)
        self._failures = Failures((cell, error) for (cell, _), error in self.store.done.items())

    def run(self) -> Outcome:
        """Measure what is still missing."""
        with self.store.writing():
            self._starter.processes.end_earlier()
            for removed in remove_temporaries(TEMPORARY_KIND):
                self.observer.note(f"removed {removed}: a launch that was killed left it")
            take_over(self.plan, self.store, self._take_result, self.observer.note)
            self._began, self._expected_s = self.clock(), 0.0  # seconds of what is measured from here on
            run_concurrently(self._work(), self.plan.concurrent_launches)
        missing = self._missing_results()
        killed = sum(self._failures.abandoned_by_kills(each.cell) for each in self.plan.cells)
        if not missing:
            return Outcome("complete", 0, killed)
        racing = self.plan.study.regret is not None
        further = self.plan.study.launches - self._agenda.last_known_launch() if racing else None
        if self.stop():
            return Outcome("stopped", missing, killed, further=further)
        if not self.store.done:
            raise UserError("the budget was spent before anything was measured", "allow more time (--budget)")
        return Outcome("budget", missing, killed, self._unreached() if racing else 0, further)

    def _work(self) -> Iterator[Task]:
        for each in self.plan.passes:
            cells = each.cells
            while cells and not self._must_stop():
                cells -= yield from self._work_on(cells, each.launches)

    def _work_on(self, cells: frozenset[Cell], launches: Iterable[int]) -> Generator[Task, None, frozenset[Cell]]:
        """Measure `cells` in `launches`, or at fewer points if the budget ends before; returns the cells of these."""
        for launch in launches:
            if self._must_stop():  # before the next launch is asked for: what it measures follows from all of this one
                break
            if isinstance(launches, range):
                cells = self._affordable(cells, launches)
            wanted = self._agenda.wanted(launch) & cells
            if not wanted:
                break
            if self._closed(launch):
                continue
            until = min(inf if self._deadline is None else self._deadline, self.clock() + self._launch_s)
            for group in self.plan.order(launch):
                if self._must_stop() or self.clock() > until:
                    break
                chosen = tuple(each for each in group.cells if each.cell in wanted)
                yield self._measure(launch, replace(group, cells=chosen), until)
        return cells

    def _affordable(self, cells: frozenset[Cell], launches: range) -> frozenset[Cell]:
        """The cells at as many points as can have all `launches` before the deadline at the speed so far, at least one.

        On a busy machine the first few points are compared, instead of many points in too few launches.
        """
        if self._deadline is None or not self._expected_s:
            return cells
        now = self.clock()
        left = (self._deadline - now) * self._expected_s / (now - self._began)  # in expected seconds
        points = defaultdict[Point, list[PlannedCell]](list)
        for each in self.plan.cells:
            if each.cell in cells:
                points[Point.from_cell(each.cell)].append(each)
        kept = set[Cell]()
        for at_point in points.values():
            pending = (each for launch in launches for each in self._pending(launch, tuple(at_point)))
            left -= sum(self.plan.expected_seconds[each.cell] for each in pending)
            if kept and left < 0:
                break
            kept |= {each.cell for each in at_point}
        return frozenset(kept)

    def _closed(self, launch: int) -> bool:
        """Whether the points that `launch` has not measured are left to later launches."""
        return self._launch_s < inf and launch < max(self._newest_launch, self._agenda.last_known_launch())

    def _must_stop(self) -> bool:
        return self.stop() or (self._deadline is not None and self._deadline < self.clock())

    def _measure(self, launch: int, group: Group, until: float) -> Task:
        """The cells of `group` in launch number `launch`, in as many starts as that takes; none begins after `until`,
        in seconds of `clock`."""
        while (pending := self._pending(launch, group.cells)) and not self._must_stop() and self.clock() <= until:
            yield from self._start(launch, group, pending, until)

    def _pending(self, launch: int, cells: tuple[PlannedCell, ...]) -> list[PlannedCell]:
        return [
            cell
            for cell in cells
            if (cell.cell, launch) not in self.store.done and not self._failures.abandoned(cell.cell)
        ]

    def _missing_results(self) -> int:
        """Results of the launches that were reported, or if these have all, of the next one."""
        missing = launch = 0
        while launch < self._agenda.last_known_launch() or not missing:
            launch += 1
            wanted = self._agenda.wanted(launch)
            if not wanted:
                break
            if self._closed(launch):
                continue
            missing += len(self._pending(launch, tuple(each for each in self.plan.cells if each.cell in wanted)))
        return missing

    def _unreached(self) -> int:
        reached = {Point.from_cell(cell) for cell, _ in self.store.done}
        return len({Point.from_cell(each.cell) for each in self.plan.cells} - reached)

    def _cell_time_limit(self) -> float:
        """Seconds for each cell of the next launch."""
        if self._deadline is None:
            return self.plan.study.slot
        missing = max(1, self._missing_results())
        starts = missing / max(1, len(self.plan.cells)) * len(self.plan.groups)
        starting = starts * start_seconds(self.plan.mpi.kind, max(group.ranks for group in self.plan.groups))
        left = (self._deadline - self.clock()) * self.plan.concurrent_launches - starting
        # Warm-up and samples may each take as long as the limit.
        return min(self.plan.study.slot, max(_MIN_TIME_LIMIT, left / missing / 2))

    def _longest_silence(self, pending: list[PlannedCell], time_limit: float) -> float:
        least = MIN_TIMEOUT if self.plan.study.repetitions is None else _MIN_TIMEOUT_FIXED_REPETITIONS
        least = _MIN_TIMEOUT_SIMULATED if self.plan.machine.simulated else least
        cells = (planned.cell for planned in pending)
        largest = max(buffer_bytes(cell.collective, cell.ranks, cell.message_bytes) for cell in cells)
        return longest_silence(least, time_limit, largest)

    def _start(
        self, launch: int, group: Group, pending: list[PlannedCell], until: float
    ) -> Generator[None, None, None]:
        seed = f"{self.plan.study.seed}/{launch}/{len(pending)}"
        time_limit = self._cell_time_limit()
        begin_within = None if until == inf or self.plan.machine.simulated else until - self.clock()
        text = plan_text(self.plan, group, pending, time_limit, seed=seed, launch=launch, begin_within=begin_within)
        start = self._starter.start(group, text, launch, time_limit)
        timeout = self.hang_after or self._longest_silence(pending, time_limit)
        self.observer.started(group)
        cells = {cell.number: cell for cell in pending}
        seen = _Seen(start.part)

        def take(line: RawLine) -> None:
            values = line.values
            if seen.binding_mistake:
                return
            if "world" in values:
                _check_world(values["world"], group, start.command)
                seen.facts.update(values)
                seen.binding_mistake = self.plan.check_binding(group, values["ranks"])
            elif "end" in values:
                seen.facts["clock_error_end_ns"] = values["clock_error_ns"]
                seen.facts["machines"] = values["machines"]
            elif "begin" in values:
                seen.current = cells[values["begin"]]
            else:
                self._take_result(line, cells[values["cell"]], group, launch, start.part)
                seen.current = None
                seen.measured += 1

        ended = yield from start.follow(timeout, lambda: self.stop() or bool(seen.binding_mistake), take)
        if (number := cell_under_way(start.folder)) in cells and (cells[number].cell, launch) not in self.store.done:
            seen.current = cells[number]  # else its result was written before it said that it calls no other
        start.end(ended, {"binding_mistake": seen.binding_mistake, **seen.facts})
        if seen.binding_mistake:
            raise UserError(
                f"launch {start.part} asked for ranks by {group.placement}, but they ran elsewhere: "
                f"{seen.binding_mistake}",
                "correct the machine file or the hosts; what was measured stays, and the same command continues",
            )
        self._judge(ended, seen, timeout, group, launch)

    def _judge(self, ended: Ended, seen: "_Seen", timeout: float, group: Group, launch: int) -> None:
        """Record the cell that a launch died or hung in; the rest of its cells are started again."""
        if ended.how in ("finished", "stopped"):
            self._failed_starts = 0
            return
        self.store.check_disk_space()
        hung = ended.how == "hung"
        why = (
            f"no sign of life for {round(timeout, 1):g} s (--hang-after)" if hung else f"ended with status {ended.exit}"
        )
        if seen.current is not None:
            error = f"{why}: {ended.output}" if ended.output else why
            self._fail(seen.current, group, launch, error, seen.part)
            self._failed_starts = 0
            for planned, error in self._failures.abandoned_after(
                seen.current.cell, group.cells, self.store.succeeded()
            ):
                self._fail(planned, group, launch, error)
            return
        self._failed_starts = 0 if seen.measured else self._failed_starts + 1
        # A forced algorithm does the harness's broadcasts, too. One that hangs in these would hang again, for as long.
        forced = group.forced_at_start or group.variant.name != DEFAULT
        repeatable = not (forced and hung) or self.store.succeeded() & {each.cell for each in group.cells}
        if repeatable and self._failed_starts < _MAX_FAILED_STARTS:
            what = f"showed {why}" if hung else why
            self.observer.note(
                f"a launch {what} while no cell was being measured; its remaining cells are started again"
            )
        elif forced:  # a variant that can't start is its own result, and does not stop the others
            self._failed_starts = 0
            for planned in self._pending(launch, group.cells):
                self._fail(planned, group, launch, f"{why} before its cells: {one_line(ended.output)}")
        else:
            raise UserError(
                f"{group.mpi}{group.variant.shown} can't start {counted(group.ranks, 'rank')}: {why}: "
                f"{one_line(ended.output)}",
                "`timpani doctor` may know why; what was measured stays, and the same command continues",
            )

    def _take_result(self, line: RawLine, cell: PlannedCell, group: Group, launch: int, part: str) -> None:
        result = result_of(line.values, cell, group, launch, self.plan.machine.name, part)
        self._record(replace(result, samples=line.sha256))

    def _fail(self, cell: PlannedCell, group: Group, launch: int, error: str, part: str | None = None) -> None:
        self._record(failed(cell, group, launch, self.plan.machine.name, error, part))

    def _record(self, result: LaunchResult) -> None:
        sampled = Point.from_cell(result.cell) in self._agenda.sampled_points(result.launch)
        result = replace(result, simulated=self.plan.machine.simulated, sampled=sampled)
        self.store.add_result(result)
        self._newest_launch = max(self._newest_launch, result.launch)
        self._expected_s += self.plan.expected_seconds[result.cell]
        self._agenda.take(result)
        if result.error is not None:
            self._failures.add(result.cell, result.error)
        self.observer.measured(result)


def longest_silence(least: float, time_limit: float, largest_buffers: int) -> float:
    """Seconds without a sign of life after which a start counts as hung.

    least            seconds, whatever is measured
    time_limit       seconds of each of its cells
    largest_buffers  bytes of all ranks' buffers in its largest cell: nothing is printed while a call handles them
    """
    return max(least, _TIMEOUT_FACTOR * (2 * time_limit + CELL_SECONDS)) + largest_buffers / _MIN_BANDWIDTH


@dataclass
class _Seen:
    """The output of the start `part` so far: what it reported of itself, wrong places of ranks, its current cell, and
    the number of measured cells."""

    part: str
    facts: dict[str, Any] = field(default_factory=dict)
    binding_mistake: str | None = None
    current: PlannedCell | None = None
    measured: int = 0


def _check_world(world: int, group: Group, to_run: Command) -> None:
    if world != group.ranks:
        raise UserError(
            f"{to_run.argv[0]} was asked for {group.ranks} ranks and the program sees {world}",
            "use the launcher that belongs to the MPI library (--mpi)",
        )
