"""How true `timpani predict` is on clusters that SimGrid simulates: shipped platforms, and trees drawn at random.

On each, costs are calibrated with calls of at most 32 ranks, placed by node and by core. Calls of more ranks are
predicted, and compared with SimGrid's times. SimGrid's messages share links by max-min fairness; Timpani's clock models
its equal shares. Senders of small messages continue at once. On a random tree, SIZES_DRAWN sizes of each collective are
simulated, drawn with the tree: all sizes would take hours. On the shipped machines and the first tree, the benchmark
also omits each part of the model, one at a time.

The environment variable PREDICTED sets other rank counts to predict, and TREES the number of trees; some have cores for
128 ranks only. Calls that SimGrid has not simulated after HANG_AFTER are skipped, with a message.
"""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from bench.common.prediction_error import predicted_rows, print_summaries, summary
from bench.common.random_platforms import draw
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import Costs, Simulator
from timpani.schedules.predict.calibrate import Observation, amounts_of, estimate, solve
from timpani.schedules.predict.calibration import Calibration, calibrate_from_calls
from timpani.schedules.predict.observed import observations
from timpani.schedules.predict.terms import CostTerm, terms, vector, with_vector

SHIPPED = ("four-groups-of-4", "two-nodes-of-128")
RANDOM, SEED, SIZES_DRAWN = int(os.environ.get("TREES", "20")), 19, 2
CALIBRATED, PREDICTED = "4,8,16,32", os.environ.get("PREDICTED", "64")
HANG_AFTER = "200s"
PLACEMENTS = ("node", "core")
LARGE, BLOCKS = "8,512,8Ki,128Ki,1Mi", "8,512,8Ki"
ALGORITHMS = {
    "bcast": ("linear binomial binary pipeline scatter_allgather two_level", LARGE),
    "reduce": ("binomial pipeline rabenseifner", LARGE),
    "allreduce": ("ring recursive_doubling rabenseifner two_level", LARGE),
    "gather": ("linear binomial", f"{BLOCKS},64Ki"),
    "allgather": ("ring bruck", BLOCKS),
}
"""Those of which SimGrid simulates 64 ranks in seconds."""

MAX_ERROR, COVERAGE_RANGE, MAX_REGRET = 0.05, (0.93, 0.97), 0.03
_NOTHING_SHARED = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Simulated:
    """A machine: SimGrid's name or file of it, and the sizes that are simulated there, by collective."""

    name: str
    platform: str
    sizes: dict[str, str]


@dataclass(frozen=True)
class KnownSchedule:
    """What was simulated of a machine: to calibrate with, and to be predicted by placement."""

    measured: list[Observation]
    truth: dict[str, list[Observation]]


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print_accuracy(Path(folder))


def print_accuracy(folder: Path) -> None:
    """Simulate what is missing in `folder`, campaigns of each machine, and print how true predictions are."""
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    full: list[pl.DataFrame] = []
    ablated: dict[str, list[pl.DataFrame]] = {}
    for number, machine in enumerate(_machines(folder)):
        name = machine.name
        known = _known_machine(folder / name, machine)
        calibration = calibrate_from_calls(simulator, known.measured, None, simulated=True)
        full.append(predicted_rows(simulator, calibration, known.truth, name))
        print(f"{name}: {calibration}: {summary(full[-1])}", flush=True)
        if number > len(SHIPPED):
            continue
        costs = calibration.costs
        without = {
            "sharing": _estimate_from(simulator, calibration, replace(costs, shared=_NOTHING_SHARED)),
            "eager messages": _estimate_from(simulator, calibration, replace(costs, eager_below=0)),
            "both": _estimate_from(simulator, calibration, replace(costs, shared=_NOTHING_SHARED, eager_below=0)),
            "fair shares": _estimate_from(simulator, calibration, replace(costs, fair=False)),
            "the rest": _without_rest(simulator, calibration),
        }
        for what, other in without.items():
            ablated.setdefault(what, []).append(predicted_rows(simulator, other, known.truth, name))
    rows = pl.concat(full)
    print_summaries(rows, "collective", "collective algorithm", "message_bytes", "machine", "placement")
    for what, frames in ablated.items():
        print(f"without {what} (intervals of the whole model): {summary(pl.concat(frames))}")
    print(
        f"must be: error at most {MAX_ERROR:.0%}, coverage {COVERAGE_RANGE[0]:.0%} to {COVERAGE_RANGE[1]:.0%}, "
        f"regret at most {MAX_REGRET:.0%}"
    )


def _machines(folder: Path) -> Iterator[Simulated]:
    every = {collective: sizes for collective, (_, sizes) in ALGORITHMS.items()}
    yield from (Simulated(name, name, every) for name in SHIPPED)
    generator = np.random.default_rng(SEED)
    for number in range(RANDOM):
        tree = draw(generator)
        sizes = {
            collective: ",".join(generator.choice(listed.split(","), SIZES_DRAWN, replace=False))
            for collective, listed in every.items()
        }
        platform = folder / f"random-{number}.xml"
        platform.write_text(tree.platform)
        print(f"{platform.stem}: {tree}")
        yield Simulated(platform.stem, str(platform), sizes)


def _known_machine(folder: Path, machine: Simulated) -> KnownSchedule:
    measured: list[Observation] = []
    truth: dict[str, list[Observation]] = {}
    for placement in PLACEMENTS:
        for collective in ALGORITHMS:
            measured += _simulated(folder, machine, placement, collective, CALIBRATED)
            truth.setdefault(placement, []).extend(_simulated(folder, machine, placement, collective, PREDICTED))
    return KnownSchedule(measured, truth)


def _simulated(folder: Path, machine: Simulated, placement: str, collective: str, ranks: str) -> list[Observation]:
    """The observations of a campaign in `folder`, measured if it is missing; prints which cells have no time."""
    campaign = folder / f"{placement}-{collective}-{ranks.replace(',', '-')}"
    names = ",".join(f"timpani/{name}" for name in ALGORITHMS[collective][0].split())
    asked = ("--algorithms", names, "--sizes", machine.sizes[collective], "--hang-after", HANG_AFTER)
    where = ("--ranks", ranks, "--placement", placement, "--on", f"simgrid:{machine.platform}")
    timpani("run", collective, *asked, *where, "-o", str(campaign))
    loaded = load(campaign)
    for row in loaded.results.filter(pl.col("error").is_not_null()).iter_rows(named=True):
        print(
            f"not simulated: {machine.name} by {placement}, {collective} {row['algorithm']} on {row['ranks']} ranks of "
            f"{row['message_bytes']} B: {row['error']}"
        )
    return observations(loaded)


def _estimate_from(simulator: Simulator, calibration: Calibration, start: Costs) -> Calibration:
    """The costs that are found from `start`, in which what has no cost to begin with keeps none."""
    found = estimate(simulator, calibration.observations, start)
    return replace(calibration, costs=found.costs, paid=np.full(len(calibration.paid), True))


def _without_rest(simulator: Simulator, calibration: Calibration) -> Calibration:
    """The costs that are found along the same paths if the start of a call from rest costs nothing."""
    costs = replace(calibration.costs, rest=0.0)
    times = np.array([each.time for each in calibration.observations])
    amounts = amounts_of(simulator, calibration.observations, costs)
    amounts[:, terms(costs).index(CostTerm("rest"))] = 0
    return replace(calibration, costs=with_vector(costs, solve(amounts, times, vector(costs), times)))
