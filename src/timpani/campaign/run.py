"""Run a campaign: every cell in every launch, whatever dies or hangs on the way."""

import gzip
import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from timpani.campaign.launch import Ended, follow, read_whole_lines
from timpani.campaign.plan import CELL_SECONDS, START_SECONDS, CampaignPlan, Group, PlannedCell
from timpani.campaign.record import LaunchResult
from timpani.campaign.store import Store
from timpani.errors import UserError
from timpani.machine.launch_request import Command
from timpani.providers.provider import Controls
from timpani.providers.steering import steering
from timpani.stats.sample import summarise
from timpani.study.cell import OWN, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.study import Study

LEAST_PATIENCE = 30.0  # seconds of silence after which a launch counts as hung, at least
SIMULATION_PATIENCE = 600.0  # … of a simulation, which may compute long for a short simulated time
PATIENCE_FACTOR = 20.0  # … and times what a cell is expected to take
_SHORTEST_SLOT = 0.002  # seconds; below it a budget stops the campaign rather than spoil the figures
_MOST_FAILURES = 2  # of one cell, before it is given up
_MOST_ENDINGS = 2  # launches that an algorithm may end at one rank count, before larger sizes are given up
_NOT_TRIED = "not tried"  # how the error of such a cell begins
_MOST_FAILED_STARTS = 3  # in a row, before the campaign is


class Observer(Protocol):
    """Who is told how a campaign goes on."""

    def started(self, launch: int, group: Group, cells: int) -> None:
        """A start of the MPI program for so many cells."""
        ...

    def measured(self, result: LaunchResult) -> None:
        """A result, after it was recorded."""
        ...

    def note(self, text: str) -> None:
        """Something worth knowing that is no result."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How a campaign ended: complete, stopped by a signal, or out of budget, with results still missing."""

    ended: Literal["complete", "stopped", "budget"]
    missing: int


@dataclass
class Runner:
    """A campaign under way. `programs` holds the native programs; `stop` tells when the user wants an end."""

    plan: CampaignPlan
    store: Store
    programs: Path
    machine: str
    observer: Observer
    stop: Callable[[], bool]
    hang_after: float | None = None
    _failures: Counter[Cell] = field(default_factory=Counter)
    _endings: defaultdict[tuple[object, ...], list[int]] = field(default_factory=lambda: defaultdict(list))
    _failed_starts: int = 0
    _deadline: float | None = None

    def run(self) -> Outcome:
        """Measure what is still missing."""
        study = self.plan.study
        if study.budget is not None:
            self._deadline = time.monotonic() + study.budget
        for (cell, _), error in self.store.done.items():
            if error is not None:
                self._failures[cell] += _MOST_FAILURES if error.startswith(_NOT_TRIED) else 1
        with self.store.writing():
            return self._measure()

    def _measure(self) -> Outcome:
        self._take_leftovers()
        for launch in range(1, self.plan.study.launches + 1):
            for group in self.plan.order(launch):
                while pending := self._pending(launch, group.cells):
                    if self.stop():
                        return Outcome("stopped", self._missing())
                    slot = self._slot()
                    if slot is None:
                        return self._out_of_budget()
                    self._start(launch, group, pending, slot)
        return Outcome("complete", 0)

    def _out_of_budget(self) -> Outcome:
        if not self.store.done:
            raise UserError("the budget was spent before anything was measured", "give more with --budget")
        return Outcome("budget", self._missing())

    def _pending(self, launch: int, cells: tuple[PlannedCell, ...]) -> list[PlannedCell]:
        return [
            cell
            for cell in cells
            if (cell.cell, launch) not in self.store.done and self._failures[cell.cell] < _MOST_FAILURES
        ]

    def _missing(self) -> int:
        cells = self.plan.cells
        return sum(len(self._pending(launch, cells)) for launch in range(1, self.plan.study.launches + 1))

    def _slot(self) -> float | None:
        """Seconds for each cell of the next launch, or None when the budget is spent."""
        if self._deadline is None:
            return self.plan.study.slot
        starts = self._missing() / max(1, len(self.plan.cells)) * len(self.plan.groups)
        left = self._deadline - time.monotonic() - starts * START_SECONDS[self.plan.mpi.kind]
        if self._deadline < time.monotonic():
            return None
        # Warm-up and samples may take a slot each.
        return min(self.plan.study.slot, max(_SHORTEST_SLOT, left / max(1, self._missing()) / 2))

    def _start(self, launch: int, group: Group, pending: list[PlannedCell], slot: float) -> None:
        folder = self.store.start_folder(launch)
        (folder / "plan.txt").write_text(plan_text(self.plan.study, group, pending, slot))
        program = (str(self.programs / "timpani-measure"), str(folder / "plan.txt"), str(folder / "samples.jsonl"))
        to_run = self.plan.command(group, program, folder)
        least = SIMULATION_PATIENCE if self.plan.machine.simulated else LEAST_PATIENCE
        patience = self.hang_after or max(least, PATIENCE_FACTOR * (2 * slot + CELL_SECONDS))
        self.observer.started(launch, group, len(pending))
        without = steering(self.plan.mpi, os.environ)
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        cells = {cell.number: cell for cell in pending}
        seen = _Seen()

        def take(line: dict[str, Any]) -> None:
            if seen.misplaced:
                return
            if "world" in line:
                _check_world(line["world"], group, to_run)
                seen.facts.update(line)
                seen.misplaced = self.plan.misplaced(group, line["ranks"])
            elif "end" in line:
                seen.facts["clock_error_end_ns"] = line["clock_error_ns"]
            elif "begin" in line:
                seen.current = cells[line["begin"]]
            else:
                self._take_result(line, cells[line["cell"]], group, launch)
                seen.current = None
                seen.measured += 1

        ended = follow(to_run, folder, patience, lambda: self.stop() or bool(seen.misplaced), take, without)
        self.store.add_launch(
            {
                "launch": launch,
                "part": folder.name,
                "command": list(to_run.argv),
                "environment": dict(to_run.environment),
                "without": list(without),
                "started": begun,
                "seconds": round(ended.seconds, 3),
                "exit": ended.exit,
                "ended": ended.how,
                "slot_s": slot,
                "asked": [asdict(place) for place in self.plan.asked(group)],
                "misplaced": seen.misplaced,
                **seen.facts,
            }
        )
        compress(folder / "samples.jsonl")
        if seen.misplaced:
            raise UserError(
                f"launch {folder.name} was asked for ranks by {group.placement}, and they are elsewhere: "
                f"{seen.misplaced}",
                "correct the machine file or the hosts; what was measured stays, and the same command goes on",
            )
        self._judge(ended, seen, patience, group, launch)

    def _judge(self, ended: Ended, seen: "_Seen", patience: float, group: Group, launch: int) -> None:
        """Record the cell that a launch died or hung in; the rest of its cells are started again."""
        if ended.how in ("finished", "stopped"):
            self._failed_starts = 0
            return
        self.store.check_room()
        why = (
            f"no sign of life for {patience:g} s (--hang-after)"
            if ended.how == "hung"
            else f"ended with status {ended.exit}"
        )
        if seen.current is not None:
            error = f"{why}: {ended.output}" if ended.output else why
            self._record(failed(seen.current, group, launch, self.machine, error))
            self._failed_starts = 0
            self._give_up(seen.current, group, launch)
            return
        if self.plan.machine.simulated and group.arguments:
            # The one algorithm that is forced carries what the harness itself broadcasts: a second start ends alike.
            for planned in self._pending(launch, group.cells):
                error = f"{why} before its cells: {one_line(ended.output)}"
                self._record(failed(planned, group, launch, self.machine, error))
            return
        self._failed_starts = 0 if seen.measured else self._failed_starts + 1
        if not self.store.done or self._failed_starts >= _MOST_FAILED_STARTS:
            raise UserError(
                f"{self.plan.mpi} does not start {group.ranks} ranks: {why}: {one_line(ended.output)}",
                "`timpani doctor` may know why; what was measured stays, and the same command goes on",
            )
        self.observer.note(f"a launch {why} outside its cells; what it left is started again")

    def _give_up(self, ended_in: PlannedCell, group: Group, launch: int) -> None:
        """Try an algorithm that ended launches no more at larger sizes, where it has never succeeded: each try may cost
        `patience`. Smaller ones it may well manage: memory and counts run out from some size on."""
        kind = _kind(ended_in.cell)
        sizes = self._endings[kind]
        sizes.append(ended_in.cell.message_bytes)
        if len(sizes) < _MOST_ENDINGS:
            return
        succeeded = self.store.succeeded()
        for planned in group.cells:
            cell = planned.cell
            larger = _kind(cell) == kind and cell.message_bytes > min(sizes)
            if larger and cell not in succeeded and not self._failures[cell]:
                error = f"{_NOT_TRIED}: the algorithm ended {len(sizes)} launches, from {show_size(min(sizes))} on"
                self._record(failed(planned, group, launch, self.machine, error))
                self._failures[cell] = _MOST_FAILURES

    def _take_result(self, line: dict[str, Any], cell: PlannedCell, group: Group, launch: int) -> None:
        self._record(result_of(line, cell, group, launch, self.machine, self.plan.study.precision))

    def _record(self, result: LaunchResult) -> None:
        result = replace(result, simulated=self.plan.machine.simulated)
        self.store.add_result(result)
        if result.error is not None:
            self._failures[result.cell] += 1
        self.observer.measured(result)

    def _take_leftovers(self) -> None:
        """Record what launches measured that nobody lived to record: of a campaign that was killed."""
        numbered = {cell.number: cell for cell in self.plan.cells}
        groups = {cell.number: group for group in self.plan.groups for cell in group.cells}
        for launch, path in self.store.unrecorded():
            ran: list[dict[str, Any]] = []
            for line in read_whole_lines(path, 0)[0]:
                ran = line.get("ranks", ran)
                cell = numbered.get(line.get("cell", -1))
                if cell is None or self.plan.misplaced(groups[cell.number], ran):
                    continue
                if (cell.cell, launch) not in self.store.done:
                    self._take_result(line, cell, groups[cell.number], launch)
            compress(path)


@dataclass
class _Seen:
    """What a launch has said of itself so far, what of its places is wrong, its cell, and how many it has measured."""

    facts: dict[str, Any] = field(default_factory=dict)
    misplaced: str | None = None
    current: PlannedCell | None = None
    measured: int = 0


def _kind(cell: Cell) -> tuple[object, ...]:
    return cell.collective, cell.algorithm, cell.ranks


def plan_text(
    study: Study,
    group: Group,
    cells: list[PlannedCell],
    slot: float,
    method: str | None = None,
    calls: int | None = None,
) -> str:
    """The plan that the measuring program reads; `native/measure/plan.hpp` has its grammar.

    `method` and `calls` take the place of the study's own where cells are not timed but counted.
    """
    repetitions = calls or study.repetitions
    return "\n".join(
        [
            "timpani-plan 1",
            f"method {method or study.method}",
            f"start {'barrier' if group.oversubscribed else 'round_time'}",
            f"datatype {group.datatype}",
            f"precision {study.precision}",
            f"slot_ns {round(slot * 1e9)}",
            *([] if study.warmup is None else [f"warmup {study.warmup}"]),
            *([] if repetitions is None else [f"repetitions {repetitions}"]),
            *cell_lines(cells),
            "",
        ]
    )


def cell_lines(cells: list[PlannedCell]) -> Iterator[str]:
    """A line of the plan for each cell."""
    for planned in cells:
        cell = planned.cell
        by_library = cell.algorithm.provider != OWN and OPERATIONS[cell.collective].kind == "collective"
        ours = "-" if by_library else cell.algorithm.plain
        settings = f"{_controls(planned.at_creation)} {_controls(planned.at_call)} {ours}"
        yield (
            f"cell {planned.number} {cell.collective} {cell.message_bytes} {cell.mode} {settings}  # {cell.algorithm}"
        )


def _controls(controls: Controls) -> str:
    return ",".join(f"{name}={value}" for name, value in controls) or "-"


def result_of(
    line: dict[str, Any], planned: PlannedCell, group: Group, launch: int, machine: str, precision: float
) -> LaunchResult:
    """The result of a cell's line in the raw record; it has converged when it reached the study's `precision`."""
    if "mistake" in line:
        return failed(planned, group, launch, machine, line["mistake"])
    raw = line["measured"]
    arrays = {
        name: np.asarray(raw[name], dtype=np.float64)
        for name in ("completion_ns", "average_ns", "skew_ns", "rank_mean_ns")
    }
    summary = summarise(**arrays).per_message(raw.get("messages_per_sample", 1))
    return LaunchResult(
        cell=planned.cell,
        launch=launch,
        machine=machine,
        median_us=summary.median_us,
        ci_low_us=summary.ci_low_us,
        ci_high_us=summary.ci_high_us,
        osu_avg_us=summary.osu_avg_us,
        osu_min_us=summary.osu_min_us,
        osu_max_us=summary.osu_max_us,
        skew_us=summary.skew_us,
        repetitions=summary.repetitions,
        outlier_share=summary.outlier_share,
        two_humped=summary.two_humped,
        converged=raw["stopped_by"] == "precision" or summary.relative_half_width <= precision,
        skewed=summary.skewed,
        oversubscribed=group.oversubscribed,
    )


def failed(planned: PlannedCell, group: Group, launch: int, machine: str, error: str) -> LaunchResult:
    """The result of a cell that gave none."""
    return LaunchResult(
        planned.cell, launch, machine, converged=False, oversubscribed=group.oversubscribed, error=error
    )


def compress(path: Path) -> None:
    """Replace a raw record by its gzip, which also marks it as taken over into the results."""
    if not path.exists():
        return
    beside = path.with_name(path.name + ".new")
    with path.open("rb") as plain, gzip.open(beside, "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    beside.rename(path.with_name(path.name + ".gz"))
    path.unlink()


def one_line(output: str) -> str:
    """The first line of what a launch printed."""
    return output.partition("\n")[0].strip() or "it printed nothing"


def _check_world(world: int, group: Group, to_run: Command) -> None:
    if world != group.ranks:
        raise UserError(
            f"{to_run.argv[0]} was asked for {group.ranks} ranks and the program sees {world}",
            "use the starter that belongs to the MPI library (--mpi)",
        )
