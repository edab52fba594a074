"""What a launch recorded of a cell, as a result of the campaign."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.campaign.folder.launch_result import COPIED, LaunchResult
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.stats.sample import NS_PER_US, summarize, summarize_lateness

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
