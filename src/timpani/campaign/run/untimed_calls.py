"""Starts of a campaign's cells that are called and not timed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from timpani.campaign.folder.store import Store
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.plan_text import plan_text
from timpani.campaign.run.processes import Processes
from timpani.campaign.run.start import Programs, Start
from timpani.libraries.launch_request import Parameters


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
