"""Does the default take the same time in launches that can switch algorithms and in launches with nothing set?

In both kinds of launches the default is interleaved with one of Timpani's algorithms, the same in both. So the ratio of
their times is precise in each launch. The ratios of the two kinds are compared. They depend on the state of the
machine, which lasts for seconds and minutes, so launches of the two kinds alternate.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.common.command import timpani
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi
from timpani.stats.compare import ALPHA, compare
from timpani.study.cell import DEFAULT

LAUNCHES = 12
TOGETHER = 2
"""Launches of one kind before those of the other."""
YARDSTICKS = {
    "bcast": "binomial",
    "reduce": "binomial",
    "allreduce": "recursive_doubling",
    "allgather": "ring",
    "alltoall": "pairwise",
    "gather": "linear",
    "scatter": "linear",
    "reduce_scatter": "ring",
}
"""Timpani's."""

SIZES = "8,1Ki,32Ki,1Mi"


def run() -> None:
    """On the library that TIMPANI_BENCH_MPI names, else on the first that is found."""
    mpi = choose_mpi(os.environ.get("TIMPANI_BENCH_MPI"))
    print(mpi, flush=True)
    ratios, widest = [], 0.0
    for collective, ours in YARDSTICKS.items():
        with tempfile.TemporaryDirectory() as root:
            kinds = {Path(root) / kind: f"{kind},timpani/{ours}" for kind in (DEFAULT, "all")}
            for launches in range(TOGETHER, LAUNCHES + 1, TOGETHER):
                for folder, algorithms in kinds.items():
                    study = ("--algorithms", algorithms, "--sizes", SIZES, "--launches", str(launches))
                    timpani("run", collective, *study, "--mpi", str(mpi.mpirun), "-o", str(folder))
            alone, interleaved = map(_proportions, kinds)
        for size, values in alone.items():
            compared = compare((values[None], interleaved[size][None]))
            (low,), (high,) = compared.interval(ALPHA)
            ratios.append(compared.ratio[0])
            widest = max(widest, high / low)
            print(f"{collective} {size} B: alone / with others {ratios[-1]:.3f} ({low:.3f} … {high:.3f})")
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"geometric mean {mean:.3f}, {min(ratios):.3f} … {max(ratios):.3f}; must be 1 within the intervals")


def _proportions(folder: Path) -> dict[int, NDArray[np.float64]]:
    """The default's time over our algorithm's in each launch, by size."""
    results = load(folder).results
    found: dict[int, dict[str, dict[str, float]]] = {}
    for row in results.filter(results["interleaving"].is_not_null()).iter_rows(named=True):
        kind = DEFAULT if row["algorithm"] == DEFAULT else row["provider"]
        found.setdefault(row["message_bytes"], {}).setdefault(kind, {})[row["interleaving"]] = row["relative"]
    return {
        size: np.array([kinds[DEFAULT][turn] / kinds["timpani"][turn] for turn in kinds[DEFAULT]])
        for size, kinds in found.items()
    }
