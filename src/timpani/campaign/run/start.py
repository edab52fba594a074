"""One start of the MPI program: its folder, its plan and its line in launches.jsonl, written before it begins."""

import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from timpani.campaign.folder.raw_record import RawLine, compress
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.plan_text import plan_text
from timpani.campaign.run.launch import Ended, follow, launch_temporary, run_to_end
from timpani.campaign.run.processes import Processes
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import Command
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers import shares_cores
from timpani.native.mpi import Mpi
from timpani.study.cell import Cell
from timpani.study.sizes import show_size
from timpani.study.words import counted

Programs = Callable[[Mpi], Path]
"""The folder with the native programs that were built for a library."""


@dataclass(frozen=True)
class Start:
    """A start recorded in launches.jsonl.

    part     its name there
    without  variables removed from its environment
    local    whether it runs only on this computer
    """

    store: Store
    processes: Processes
    kind: str
    part: str
    folder: Path
    command: Command
    without: tuple[str, ...]
    local: bool

    def follow(
        self, timeout: float, stop: Callable[[], bool], take: Callable[[RawLine], None]
    ) -> Generator[None, None, Ended]:
        """Run it, as `launch.follow` does, while nothing of earlier starts runs on; what it leaves is removed."""
        with launch_temporary(self.local) as (variables, locks), self.processes.start(self.part):
            command = replace(self.command, environment={**self.command.environment, **variables})
            ended = yield from follow(command, self.folder, timeout, stop, take, self.without, locks)
        if ended.how != "finished":
            LIBRARIES[self.kind].launcher.remove_remains(self.folder)
        return ended

    def end(self, ended: Ended, facts: dict[str, Any]) -> None:
        """Record the ending and the `facts` that the start reported, and pack its raw samples."""
        seconds = round(ended.seconds, 3)
        self.store.add_ending(self.part, {"seconds": seconds, "exit": ended.exit, "ended": ended.how, **facts})
        compress(self.folder / "samples.jsonl")


@dataclass(frozen=True)
class Starter:
    """What all starts of one campaign need. `stop` is true once the user wants an end; `note` gets lines for the user.

    programs  each library's native programs
    """

    plan: CampaignPlan
    store: Store
    programs: Programs
    stop: Callable[[], bool]
    note: Callable[[str], None]

    @cached_property
    def processes(self) -> Processes:
        """Those of the campaign."""
        return Processes(self.store.mark, self.note)

    def start(
        self,
        group: Group,
        text: str,
        launch: int | None,
        time_limit: float,
        parameters: Callable[[Path], Parameters] = lambda folder: (),
    ) -> Start:
        """Record a start of `group` by the plan `text`.

        launch      its number, None of one without results, which counts messages
        time_limit  each cell's, seconds
        parameters  further ones of the library, by the folder of the start
        """
        folder = self.store.start_folder(launch)
        group = replace(group, parameters=(*group.parameters, *parameters(folder)))
        program = (
            str(self.programs(group.mpi) / "timpani-measure"),
            str(folder / "plan.txt"),
            str(folder / "samples.jsonl"),
        )
        command = self.plan.command(group, program, folder)
        without = group.variant.without(os.environ)
        self.store.add_start(
            {
                "launch": launch,
                "part": folder.name,
                "variant": group.variant.name,
                "placement": group.placement,
                "command": list(command.argv),
                "environment": dict(command.environment),
                "without": list(without),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "slot_s": time_limit,
                "asked": [asdict(place) for place in self.plan.requested_binding(group)],
            }
        )
        (folder / "plan.txt").write_text(text)
        marked = replace(command, environment={**command.environment, **self.processes.environment(folder.name)})
        local = not self.plan.hosts or shares_cores(self.plan.machine)
        return Start(self.store, self.processes, group.mpi.kind, folder.name, folder, marked, without, local)

    def untimed(
        self,
        group: Group,
        cells: list[PlannedCell],
        method: str,
        timeout: float,
        take: Callable[[str, RawLine], None],
        twice: PlannedCell | None = None,
        parameters: Callable[[Path], Parameters] = lambda folder: (),
    ) -> tuple[Start, Ended]:
        """Run a start that calls `cells` by the measuring program's `method`; the others as `plan_text` has them.

        A start that dies before the line of any cell is repeated once: launchers fail now and then.

        timeout  seconds of silence after which it counts as hung
        take     gets the start's part and each cell's line
        """
        slot = self.plan.study.slot
        text = plan_text(self.plan, group, cells, slot, method, twice)
        taken = 0

        def take_line(line: RawLine) -> None:
            nonlocal taken
            if "cell" in line.values:
                taken += 1
                take(start.part, line)

        for is_last in (False, True):
            start = self.start(group, text, None, slot, parameters)
            ended = run_to_end(start.follow(timeout, self.stop, take_line))
            start.end(ended, {})
            if is_last or taken or ended.how != "died":
                break
            self.note(f"{start.part} {ended.failure}; it is started again")
        return start, ended

    def read_cells(
        self,
        group: Group,
        cells: list[PlannedCell],
        method: str,
        timeout: float,
        take: Callable[[str, Cell, Mapping[str, Any]], None],
        without: str,
        parameters: Callable[[Path], Parameters] = lambda folder: (),
    ) -> list[PlannedCell]:
        """Run a start as `untimed` does.

        take     gets the start's part, each cell and what its line says
        without  begins the note on each cell that gave none, in words
        Returns the cells after the one that the start ended in; none if it finished.
        """
        left = {cell.number: cell for cell in cells}

        def take_line(part: str, line: RawLine) -> None:
            values = line.values
            cell = left.pop(values["cell"]).cell
            if "mistake" in values:
                self.note_missing(without, cell, values["mistake"])
            else:
                take(part, cell, values)

        start, ended = self.untimed(group, cells, method, timeout, take_line, parameters=parameters)
        if ended.how == "finished" and left:  # another start would leave them out, too
            self.note(f"{without}: {counted(len(left), 'cell')}: {start.part} finished without a line on them")
            return []
        if ended.how in ("died", "hung") and left:
            self.note_missing(without, left.pop(next(iter(left))).cell, ended.failure)
        return list(left.values())

    def note_missing(self, without: str, cell: Cell, why: str) -> None:
        """A line for the user on a cell that gave nothing."""
        where = f"{counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}"
        self.note(f"{without}: {cell.collective} {cell.algorithm.label}, {where}: {why}")
