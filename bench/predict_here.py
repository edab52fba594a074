"""How true predictions are on this machine: costs from some algorithms and sizes at 2 ranks, the others predicted.

For each collective, costs come from half of the algorithms, drawn at random, at every second size. All other cells are
predicted. Ranks share one node.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from bench.common.prediction_error import predicted_rows, print_summaries, summary
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.predict.calibrate import Observation
from timpani.schedules.predict.calibration import calibrate_from_calls
from timpani.schedules.predict.model_error import size_of
from timpani.schedules.predict.observed import observations

COLLECTIVES = ("bcast", "scatter", "gather", "allgather", "alltoall", "reduce", "allreduce", "reduce_scatter")
SIZES, LAUNCHES, SEEDS = "4:1Mi*4", 5, (1, 2, 3)
RATIO_RANGE, MIN_SHARE = (0.8, 1.25), 0.9


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print_accuracy(Path(folder) / "campaign")


def print_accuracy(folder: Path) -> None:
    """Measure in `folder` unless that is done, and print how true predictions are for each way of drawing."""
    if not (folder / "results.jsonl").exists():
        names = ("--algorithms", "timpani/all", "--sizes", SIZES, "--ranks", "2", "--launches", str(LAUNCHES))
        timpani("run", *COLLECTIVES, *names, "-o", str(folder))
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    measured = observations(load(folder))
    frames = []
    for seed in SEEDS:
        known = _drawn(measured, np.random.default_rng(seed))
        calibration = calibrate_from_calls(simulator, [measured[at] for at in known], None, simulated=False)
        others = [each for at, each in enumerate(measured) if at not in known]
        frames.append(predicted_rows(simulator, calibration, {"one node": others}, f"here, drawn by {seed}"))
        print(f"drawn by {seed}: {calibration}: {_accuracy(frames[-1])}")
    rows = pl.concat(frames)
    print_summaries(rows, "collective", "message_bytes", described=_accuracy)
    print(f"must be: {MIN_SHARE:.0%} within")


def _drawn(measured: Sequence[Observation], generator: np.random.Generator) -> set[int]:
    """The cells for costs: every second size of half of each collective's algorithms."""
    names = sorted({(each.call.collective, each.call.algorithm.plain) for each in measured})
    chosen = {
        pair
        for collective in COLLECTIVES
        for of in [[pair for pair in names if pair[0] == collective]]
        for pair in [of[at] for at in generator.permutation(len(of))[: -(-len(of) // 2)]]
    }
    sizes = sorted({size_of(each.call) for each in measured})[::2]
    return {
        at
        for at, each in enumerate(measured)
        if (each.call.collective, each.call.algorithm.plain) in chosen and size_of(each.call) in sizes
    }


def _accuracy(rows: pl.DataFrame) -> str:
    low, high = RATIO_RANGE
    within = (rows["predicted_us"] / rows["time_us"]).is_between(low, high).to_numpy().mean()
    return f"{within:.0%} within {low} to {high}; {summary(rows)}"
