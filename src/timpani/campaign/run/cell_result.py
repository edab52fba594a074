"""Results from raw samples: as a launch writes them, and after a run was killed or its results were lost."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.campaign.folder.launch_result import COPIED, LaunchResult
from timpani.campaign.folder.raw_record import DAMAGED, RawLine, compress, read_whole_lines, unpack
from timpani.campaign.folder.store import Store, Unended
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES
from timpani.stats.sample import NS_PER_US, summarize, summarize_lateness

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


_NS_PER_S = 1e9


def result_of(
    line: dict[str, Any], planned: PlannedCell, group: Group, launch: int, machine: str, part: str
) -> LaunchResult:
    """The result of a cell's line in the raw record of `part`, a start of the MPI program.

    The measuring program records the median's interval and whether it is as narrow as requested.
    """
    if "mistake" in line:
        return failed(planned, group, launch, machine, line["mistake"], part)
    raw = line["measured"]
    arrays = {
        name: np.asarray(raw[name], dtype=np.float64)
        for name in ("completion_ns", "average_ns", "skew_ns", "rank_mean_ns")
    }
    messages = raw.get("messages_per_sample", 1)
    summary = asdict(summarize(**arrays).per_message(messages))
    low, high = (ns / messages / NS_PER_US for ns in raw["median_interval_ns"])
    return LaunchResult(
        cell=planned.cell,
        launch=launch,
        machine=machine,
        ci_low_us=low,
        ci_high_us=high,
        converged=raw["converged"],
        oversubscribed=group.oversubscribed,
        part=part,
        **{name: raw[name] for name in COPIED if name in raw},
        **summary | _lateness(raw, arrays),
        **_interleaved(line, part),
    )


def _lateness(raw: dict[str, Any], arrays: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    """What the launch says of injected lateness, which is no skew; nothing where ranks entered together."""
    if "lateness_ns" not in raw:
        return {}
    times = arrays["completion_ns"], arrays["skew_ns"]
    summary = summarize_lateness(*times, raw["largest_lateness_ns"], raw["lateness_error_ns"])
    return {**asdict(summary), "skewed": False}


def _interleaved(line: dict[str, Any], part: str) -> dict[str, Any]:
    """Fields of a cell's interleaving and of the machine's probes; none of a cell measured by OSU's protocol."""
    if "competitors" not in line:
        return {}
    # `relative` is 0 if in each round a competitor had no valid repetition.
    alone = line["competitors"] == 1 or not line["relative"]
    before, after = (
        float(np.median(line[name])) if line[name] else None for name in ("probe_before_ns", "probe_after_ns")
    )
    return {
        "interleaving": None if alone else f"{part}/{line['begin_ns']}",
        "relative": None if alone else line["relative"],
        "relative_error": None if alone else line["relative_error"] or None,
        "rounds": len(line["measured"]["bursts"]),
        "setup_s": line["setup_ns"] / _NS_PER_S,
        "bursts_s": (line["end_ns"] - line["begin_ns"]) / _NS_PER_S,
        "probe_before_ns": before,
        "probe_after_ns": after,
    }


def failed(
    planned: PlannedCell, group: Group, launch: int, machine: str, error: str, part: str | None = None
) -> LaunchResult:
    """The result of a cell that gave none."""
    return LaunchResult(
        planned.cell,
        launch,
        machine,
        converged=False,
        oversubscribed=group.oversubscribed,
        error=error,
        part=part,
    )
