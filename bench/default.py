"""Is the default the same where algorithms can be switched beside it as in a launch with nothing set?

In either kind of launch it takes turns with one of our algorithms, the same in both, so that the default's time
in proportion to it is sharp in each launch, whatever state the machine is in. The two kinds' proportions are compared.
"""

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.command import timpani
from timpani.campaign.load import load
from timpani.stats.compare import ALPHA, compare
from timpani.study.cell import DEFAULT

LAUNCHES = 12
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
"""Of ours."""

SIZES = "8,1Ki,32Ki,1Mi"


def run() -> None:
    ratios, widest = [], 0.0
    for collective, ours in YARDSTICKS.items():
        alone = _proportions(collective, f"default,timpani/{ours}")
        beside = _proportions(collective, f"all,timpani/{ours}")
        for size, values in alone.items():
            compared = compare(values[None], beside[size][None])
            (low,), (high,) = compared.interval(ALPHA)
            ratios.append(compared.ratio[0])
            widest = max(widest, high / low)
            print(f"{collective} {size} B: alone / beside {ratios[-1]:.3f} ({low:.3f} … {high:.3f})")
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"geometric mean {mean:.3f}, {min(ratios):.3f} … {max(ratios):.3f}; must be 1 within the intervals")


def _proportions(collective: str, algorithms: str) -> dict[int, NDArray[np.float64]]:
    """The default's time over our algorithm's in each launch, by size."""
    with tempfile.TemporaryDirectory() as root:
        folder = str(Path(root) / "c")
        study = ("--algorithms", algorithms, "--sizes", SIZES, "--launches", str(LAUNCHES))
        timpani("run", collective, *study, "-o", folder)
        results = load(Path(folder)).results
    found: dict[int, dict[str, dict[str, float]]] = {}
    for row in results.filter(results["in_turn"].is_not_null()).iter_rows(named=True):
        kind = DEFAULT if row["algorithm"] == DEFAULT else row["provider"]
        found.setdefault(row["message_bytes"], {}).setdefault(kind, {})[row["in_turn"]] = row["relative"]
    return {
        size: np.array([kinds[DEFAULT][turn] / kinds["timpani"][turn] for turn in kinds[DEFAULT]])
        for size, kinds in found.items()
    }
