"""Whether what some of LUMI's jobs say of a ratio holds in another of its jobs.

Three jobs of one evening measured the same allreduces on 8 ranks, on nodes in one, two and four cabinets. From each two
of them, all pairs of algorithms are compared, and the third job is the test.
"""

from collections.abc import Mapping
from itertools import combinations
from math import exp, log
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.load import load
from timpani.stats.compare import ALPHA, INDIFFERENCE, Samples, compare_families
from timpani.stats.jobs import JobEvidence, JobRatios

CAMPAIGN = "lumi-cray-8.1.29"
MIN_HELD = 0.9
LARGE_GAIN = 1.1

LogTimes = Mapping[tuple[int, str], float]
"""By bytes and algorithm."""


def log_times(campaigns: Path) -> list[LogTimes]:
    """Of each of the three jobs."""
    rows = load(campaigns / CAMPAIGN).results.filter(pl.col("ranks") == 8, collective="allreduce")
    return [
        {(size, f"{name}:{parameters}"): log(time) for size, name, parameters, time in of_job.iter_rows()}
        for _, of_job in rows.select("message_bytes", "algorithm", "parameters", "median_us", "job").group_by(
            "job", maintain_order=True
        )
        for of_job in [of_job.drop("job")]
    ]


def measure(archives: Path, campaigns: Path) -> bool:
    """Print how often intervals for another job hold, and how many gains that are called sure are there."""
    jobs = log_times(campaigns)
    common = sorted(set.intersection(*map(set, jobs)))
    held: list[NDArray[np.bool_]] = []
    widths: list[NDArray[np.float64]] = []
    sure: list[float] = []
    large: list[float] = []
    called = 0
    for other in jobs:
        first, second = (job for job in jobs if job is not other)
        pairs = [(one, two) for one, two in combinations(common, 2) if one[0] == two[0]]
        evidence = [JobEvidence.paired([job[one] - job[two] for job in (first, second)]) for one, two in pairs]
        low, high = JobRatios.moderated(evidence).in_another_job(ALPHA)
        there = np.exp([other[one] - other[two] for one, two in pairs])
        held.append((low <= there) & (there <= high))
        widths.append(np.log(high / low) / 2)
        gains = [(one, two) for one, two in pairs if "default" in one[1] + two[1]]
        gains = [(one, two) if "default" in one[1] else (two, one) for one, two in gains]
        samples = [
            Samples((((1.0,), (1.0,)),), jobs=JobEvidence.paired([job[one] - job[two] for job in (first, second)]))
            for one, two in gains
        ]
        found = compare_families(samples, np.array([one[0] for one, _ in gains]))
        there = np.exp([other[one] - other[two] for one, two in gains])
        called += int((found.significant & (found.ratio > 1)).sum())
        sure += there[found.low > INDIFFERENCE[1]].tolist()
        large += there[found.ratio > LARGE_GAIN].tolist()
    share = float(np.mean(held))
    print(
        f"{len(jobs)} jobs, {np.size(held)} ratios: from two jobs the interval for another job is a factor of "
        f"{exp(float(np.median(widths))):.2f} either way (median) and holds {share:.1%} (at least {MIN_HELD:.0%})"
    )
    gained, kept = (sum(ratio > INDIFFERENCE[1] for ratio in each) for each in (large, sure))
    print(f"gains over 10 % in two jobs: {gained} of {len(large)} are over 3 % in the third")
    print(f"gains called faster by two jobs after the correction for all algorithms of a point: {called}")
    print(f"gains whose interval is over 3 %: {kept} of {len(sure)} are in the third, too (at least {MIN_HELD:.0%})")
    return share >= MIN_HELD and kept >= MIN_HELD * len(sure)
