"""One start of the MPI program: its folder, its plan and its line in launches.jsonl, written before it begins."""

import os
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from timpani.campaign.folder.raw_record import RawLine, compress
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.plan_text import plan_text
from timpani.campaign.run.launch import Ended, follow, launch_temporary
from timpani.campaign.run.processes import Processes
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import Command
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

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

    @classmethod
    def record(
        cls,
        plan: CampaignPlan,
        store: Store,
        processes: Processes,
        programs: Programs,
        group: Group,
        plan_text: str,
        launch: int | None,
        time_limit: float,
        parameters: Callable[[Path], Parameters] = lambda folder: (),
    ) -> "Start":
        """Prepare the start of `group` that `plan_text` describes.

        launch      its number, None of one without results, which counts messages
        time_limit  each cell's, seconds
        parameters  further ones of the library, by the folder of the start
        """
        folder = store.start_folder(launch)
        group = replace(group, parameters=(*group.parameters, *parameters(folder)))
        program = (
            str(programs(group.mpi) / "timpani-measure"),
            str(folder / "plan.txt"),
            str(folder / "samples.jsonl"),
        )
        command = plan.command(group, program, folder)
        without = group.variant.without(os.environ)
        store.add_start(
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
                "asked": [asdict(place) for place in plan.requested_binding(group)],
            }
        )
        (folder / "plan.txt").write_text(plan_text)
        marked = replace(command, environment={**command.environment, **processes.environment(folder.name)})
        return cls(store, processes, group.mpi.kind, folder.name, folder, marked, without, local=not plan.hosts)

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
class UntimedCalls:
    """What all such starts of one campaign need.

    timeout  seconds of silence after which a start counts as hung
    note     gets each line for the user
    """

    plan: CampaignPlan
    store: Store
    programs: Programs
    stop: Callable[[], bool]
    timeout: float
    note: Callable[[str], None]

    @cached_property
    def processes(self) -> Processes:
        """Those of the campaign."""
        return Processes(self.store.mark, self.note)

    def start(
        self,
        group: Group,
        cells: list[PlannedCell],
        method: str,
        twice: PlannedCell | None = None,
        parameters: Callable[[Path], Parameters] = lambda folder: (),
    ) -> Start:
        """Record a start that calls `cells` by the measuring program's `method`.

        `twice` as `plan_text`, `parameters` as `Start.record` takes it.
        """
        slot = self.plan.study.slot
        text = plan_text(self.plan, group, cells, slot, method, twice)
        return Start.record(self.plan, self.store, self.processes, self.programs, group, text, None, slot, parameters)
