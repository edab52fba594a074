"""Regret of choices, from a campaign that was not used for choosing. It interleaved all algorithms of a point."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.judge.points import launch_medians

Point = tuple[str, int]
"""A collective and a size in bytes."""

Choices = Mapping[Point, str]
"""The label chosen at each point."""

LogTimes = dict[Point, dict[str, float]]
"""Of each point each label's mean log time over launches, in proportion to those of the same turns."""


def log_times(campaign: Campaign) -> LogTimes:
    found: LogTimes = {}
    for row in launch_medians(campaign.results).iter_rows(named=True):
        turns = [each["relative"] for each in row["turns"]]
        times = turns if turns and len(turns) == len(row["times"]) else row["times"]
        found.setdefault((row["collective"], row["message_bytes"]), {})[row["label"]] = float(np.mean(np.log(times)))
    return found


def regret(times: Mapping[str, float], chosen: str) -> float:
    """How much longer than the best the choice takes, as a share."""
    return float(np.expm1(times[chosen] - min(times.values())))


def choices_of(rows: pl.DataFrame, column: str) -> Choices:
    """The label in `column` at the point of each row."""
    chosen = rows.select("collective", "message_bytes", column)
    return {(collective, size): label for collective, size, label in chosen.iter_rows()}
