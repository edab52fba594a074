"""Recover unrecorded results from raw samples, after a run was killed or its results were lost."""

from collections.abc import Callable
from typing import Any

from timpani.campaign.folder.raw_record import DAMAGED, RawLine, compress, read_whole_lines, unpack
from timpani.campaign.folder.store import Store, Unended
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES

Take = Callable[[RawLine, PlannedCell, Group, int, str], None]
"""What is done with the line of a cell in launch number so and so and in the start of that part."""


def take_over(plan: CampaignPlan, store: Store, take: Take, report: Callable[[str], None]) -> None:
    """Give what those starts measured to `take`, and record how they ended; `report` hears of damaged raw samples.

    A start with damaged samples is measured again: its record is set aside.
    """
    for start in store.unended():
        facts: dict[str, Any] = {}
        for kind in {plan.mpi.kind, *(group.mpi.kind for group in plan.groups)}:
            LIBRARIES[kind].launcher.remove_remains(start.folder)
        try:
            facts = _take(plan, store, start, take)
            how = "killed"
        except UserError as error:
            how = "damaged"
            report(f"{error.what}: it was set aside, and what it measured is measured again")
            record = start.folder / "samples.jsonl"
            if record.exists():
                record.rename(start.folder / DAMAGED)
        known = {name: value for name, value in (start.ending or {}).items() if name not in ("part", "results")}
        store.add_ending(start.part, {"seconds": None, "exit": None, "ended": how, **facts, **known})
    for record in store.unpacked():
        compress(record)


def _take(plan: CampaignPlan, store: Store, start: Unended, take: Take) -> dict[str, Any]:
    """Take a start's results and return its reported facts; UserError if its raw samples are damaged."""
    record = start.folder / "samples.jsonl"
    unpack(record)
    lines = read_whole_lines(record, 0)[0]
    facts = next((line.values for line in lines if "world" in line.values), {})
    if start.launch is None:
        return facts
    numbered = {cell.number: cell for cell in plan.cells}
    groups = {cell.number: group for group in plan.groups for cell in group.cells}
    for line in lines:
        cell = numbered.get(line.values.get("cell", -1))
        if cell is None or plan.check_binding(groups[cell.number], facts.get("ranks", [])):
            continue
        if (cell.cell, start.launch) not in store.done:
            take(line, cell, groups[cell.number], start.launch, start.part)
    return facts
