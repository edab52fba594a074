"""What modeling noise gains if messages vary. The simulator itself is the machine, so there is no other error.

A tenth of the messages take up to ten times as long as the others. Costs are estimated from the median of DRAWS calls
on 4 to 32 ranks, and calls on 64 to 256 ranks are predicted. Three models are compared: without noise, with noise
estimated from calls of 4 ranks, and with the true noise. No real machine shows the last.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench.residuals import quantiles
from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi
from timpani.prediction.calibrate import Observation, estimate
from timpani.schedules.simulation import CostLine, Costs, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

CALIBRATED, PREDICTED = (4, 8, 16, 32), (64, 128, 256)
SIZES = (8, 4096)
ALGORITHMS = {
    "bcast": "linear binomial binary pipeline",
    "allreduce": "ring recursive_doubling rabenseifner",
    "allgather": "ring bruck",
}
TRUTH = Costs(
    overhead=0.1,
    reduced=1e-4,
    copied=5e-5,
    rest=1.0,
    messages=((CostLine(gap=0.5, per_byte=2e-4, latency=1.5),),),
    noise=quantiles(np.concatenate([np.ones(900), np.linspace(1, 10, 100)])),
)
DRAWS = range(100, 115)
"""Other draws than a prediction's."""


def run() -> None:
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    calls = [
        SimulatedCall(collective, Algorithm(OWN, name), ranks, size)
        for collective, names in ALGORITHMS.items()
        for name in names.split()
        for ranks in CALIBRATED + PREDICTED
        for size in SIZES
    ]
    drawn = np.array([simulator.drawn(calls, TRUTH, draw) for draw in DRAWS])
    times = np.median(drawn, axis=0)
    ranks = np.array([call.ranks for call in calls])
    known = [
        Observation(call, (float(time),)) for call, time in zip(calls, times, strict=True) if call.ranks in CALIBRATED
    ]
    start = Costs(messages=((CostLine(gap=1.0, per_byte=1e-3),),))
    residuals = quantiles((drawn / times)[:, ranks == CALIBRATED[0]].ravel())
    for clock, noise in (("no noise", ()), ("noise of calls", residuals), ("noise of messages", TRUTH.noise)):
        costs = estimate(simulator, known, replace(start, noise=noise)).costs
        found = [time if isinstance(time, float | int) else np.nan for time in simulator.times(calls, costs)]
        print(f"{clock}: {_errors_by_ranks(np.log(np.array(found) / times), ranks)}", flush=True)


def _errors_by_ranks(off: NDArray[np.float64], ranks: NDArray[np.int64]) -> str:
    """Of each rank count the median error, and of the logarithm with its sign."""
    by_ranks = ((count, off[ranks == count]) for count in CALIBRATED + PREDICTED)
    return ", ".join(
        f"{count} ranks {np.median(np.abs(each)):.0%} ({np.median(each):+.0%})" for count, each in by_ranks
    )
