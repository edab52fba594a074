"""Does the comparison of variants hold its level and find a slowdown of 5 %, and is it sharper than two campaigns?

Simulated campaigns go through the code that real ones go through. A block has a level that drifts, and the machine may
be in one of two states, which may change within a block. Each start adds its own error. The way "known" removes the
true effect of the state from each time: no analysis of these blocks can know more. The unpaired way measures
the same number of launches as two campaigns, an hour apart, and `timpani compare` compares them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import frame
from timpani.judge.changes import changes
from timpani.judge.decide import compare_with_default
from timpani.judge.raced import RacedResults
from timpani.stats.compare import ALPHA
from timpani.study.cell import Algorithm, Cell

COMPARISONS = 200
"""Points of one campaign: `timpani compare` corrects for all points of two campaigns together."""
CAMPAIGNS = 10
BLOCKS = 10
SLOWDOWN = 1.05
ERROR = 0.01
"""Standard deviation of a start's log time within a block."""
DRIFT = 0.05
"""Standard deviation of the step from one block's log level to the next."""
STATE_RATIO = 2.5
CHANGES = 0.25
"""Probability that the machine changes its state between two starts."""

LEVEL_WANTED, COVERAGE_WANTED, POWER_WANTED = 0.05, 0.03, 0.9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """Over many comparisons: the shares with a p-value of at most ALPHA, that are significant by the whole rule and
    whose interval covers the truth; and the median half-width of the interval of the log ratio."""

    by_test: float
    significant: float
    covered: float
    half_width: float


def one_state(random: np.random.Generator, starts: int) -> NDArray[np.bool_]:
    """Whether each start is in the far state: never."""
    return np.zeros(starts, dtype=bool)


def two_states(random: np.random.Generator, starts: int) -> NDArray[np.bool_]:
    """Whether each start is in the far state: changing with probability CHANGES from one start to the next."""
    return np.logical_xor.accumulate(random.random(starts) < CHANGES)


MACHINES: dict[str, Callable[[np.random.Generator, int], NDArray[np.bool_]]] = {
    "one state": one_state,
    "two states": two_states,
}


def paired(machine: str, truth: float, random: np.random.Generator, known: bool = False) -> Iterator[dict[str, object]]:
    """Rows of `compare_with_default`: COMPARISONS campaigns of BLOCKS blocks; truth = other's time / default's.

    known  whether the effect of the state is taken out of the times
    """
    rows = []
    for size in range(1, COMPARISONS + 1):
        level = np.repeat(np.cumsum(random.normal(0, DRIFT, BLOCKS)), 2)
        far = MACHINES[machine](random, 2 * BLOCKS)
        far &= not known
        log_times = level + far * np.log(STATE_RATIO) + random.normal(0, ERROR, 2 * BLOCKS)
        for block in range(BLOCKS):
            first = int(random.integers(2))
            for place in range(2):
                other = place != first
                start = 2 * block + place
                time = float(np.exp(log_times[start])) * (truth if other else 1)
                rows.append(_result("other" if other else "default", size, block + 1, time, bool(far[start])))
    results = frame([each.as_line() for each in rows])
    yield from compare_with_default(RacedResults.from_rows(results)).iter_rows(named=True)


def unpaired(machine: str, truth: float, random: np.random.Generator) -> Iterator[dict[str, object]]:
    """Rows of `changes`: the same launches as two campaigns one after the other, with the drift of an hour between."""
    campaigns: list[pl.DataFrame] = []
    hour = {size: random.normal(0, DRIFT * np.sqrt(BLOCKS)) for size in range(1, COMPARISONS + 1)}
    for other in (False, True):
        rows = []
        for size in range(1, COMPARISONS + 1):
            level = np.cumsum(random.normal(0, DRIFT, BLOCKS)) + other * hour[size]
            far = MACHINES[machine](random, BLOCKS)
            log_times = level + far * np.log(STATE_RATIO) + random.normal(0, ERROR, BLOCKS)
            for block, log_time in enumerate(log_times, 1):
                time = float(np.exp(log_time)) * (truth if other else 1)
                rows.append(_result("default", size, block, time, bool(far[block - 1])))
        campaigns.append(frame([each.as_line() for each in rows]))
    yield from changes(*campaigns).cells.iter_rows(named=True)


def _result(variant: str, size: int, block: int, time: float, far: bool) -> LaunchResult:
    cell = Cell("bcast", Algorithm("openmpi", "default", variant=variant), 2, "core", size, "warm")
    probe = 50.0 * (STATE_RATIO if far else 1.0) * (1 + 0.01 * (block % 3))
    return LaunchResult(cell, block, "simulated", median_us=time, probe_before_ns=probe, probe_after_ns=probe)


WAYS: dict[str, Callable[[str, float, np.random.Generator], Iterator[dict[str, object]]]] = {
    "blocks": paired,
    "known": partial(paired, known=True),
    "apart": unpaired,
}


def summarize(rows: Iterator[dict[str, object]], truth: float) -> Found:
    """What the rows say of a ratio that is 1 / truth."""
    judged = [(row.get("significant", row.get("standing") in ("faster", "slower")), row) for row in rows]
    bounds = [(row["ratio_low"] or 0.0, row["ratio_high"] or np.inf) for _, row in judged]
    widths = [np.log(float(high) / float(low)) / 2 if low else np.inf for low, high in bounds]  # type: ignore[arg-type]
    covered = [float(low) <= 1 / truth <= float(high) for low, high in bounds]  # type: ignore[arg-type]
    return Found(
        by_test=float(np.mean([isinstance(row["p_value"], float) and row["p_value"] <= ALPHA for _, row in judged])),
        significant=float(np.mean([bool(significant) for significant, _ in judged])),
        covered=float(np.mean(covered)),
        half_width=float(np.median(widths)),
    )


def run() -> None:
    """Print a row for each machine, way and truth."""
    print(
        f"{CAMPAIGNS} × {COMPARISONS} comparisons of {BLOCKS} blocks; wanted: equal ones differ at most at "
        f"{LEVEL_WANTED:.0%}, intervals cover {1 - ALPHA:.0%} ± {COVERAGE_WANTED:.0%}, {SLOWDOWN} is found "
        f"in {POWER_WANTED:.0%}"
    )
    print(f"{'machine':<12}{'way':<10}{'truth':>6}{'p <= 5 %':>10}{'significant':>13}{'covered':>9}{'half-width':>12}")
    for machine in MACHINES:
        for way, compared in WAYS.items():
            for truth in (1.0, SLOWDOWN):
                random = np.random.default_rng(1)
                found = summarize(chain(*(compared(machine, truth, random) for _ in range(CAMPAIGNS))), truth)
                print(
                    f"{machine:<12}{way:<10}{truth:>6}{found.by_test:>10.1%}{found.significant:>13.1%}{found.covered:>9.1%}"
                    f"{found.half_width:>12.1%}"
                )
