"""What a launch tells of a cell, as the campaign's result of it."""

from typing import Any

import numpy as np

from timpani.campaign.plan import Group, PlannedCell
from timpani.campaign.record import LaunchResult
from timpani.stats.sample import summarise


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
        bimodal=summary.bimodal,
        converged=raw["stopped_by"] == "precision" or summary.relative_half_width <= precision,
        skewed=summary.skewed,
        oversubscribed=group.oversubscribed,
    )


def failed(planned: PlannedCell, group: Group, launch: int, machine: str, error: str) -> LaunchResult:
    """The result of a cell that gave none."""
    return LaunchResult(
        planned.cell, launch, machine, converged=False, oversubscribed=group.oversubscribed, error=error
    )
