"""Are carried programs the same instrument as compiled ones?

Each block starts both programs in random order and measures 40 points with each. Programs are compared point by point
over blocks. `python -m tools.carry` must have compiled the carried ones. Libraries are those that are found, and those
in build/mpi-versions and build/intel-mpi. TIMPANI_BENCH_BLOCKS=3 measures fewer blocks.
"""

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.common.turns import Point, judged, launch
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.native import carried
from timpani.native.build import build
from timpani.native.mpi import Mpi

BLOCKS = 10
COLLECTIVES = ("bcast", "allreduce", "allgather", "alltoall")
SIZES = (1, 8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576)
MAX_DIFFERENT = 0.05
INDIFFERENCE = (0.97, 1.03)


def run() -> None:
    carried_here = Path("build/carried").absolute()
    if not (carried_here / platform.machine()).is_dir():
        sys.exit(f"no {carried_here / platform.machine()}: run `python -m tools.carry` first")
    blocks = int(os.environ.get("TIMPANI_BENCH_BLOCKS", BLOCKS))
    print(f"{blocks} blocks; wanted: at most {MAX_DIFFERENT:.0%} differ, none outside {INDIFFERENCE} significantly")
    for mpi in libraries():
        compiled = build(mpi)
        carried.CARRIED = carried_here
        programs = {"carried": carried.carried(mpi, ()), "compiled": compiled}
        carried.CARRIED = carried_here / "none"  # the next library is compiled too
        print(mpi.title, compared(mpi, programs, blocks), flush=True)


def libraries() -> Iterator[Mpi]:
    yield from find_mpis()
    for folder in (*sorted(Path("build/mpi-versions").glob("*")), Path("build/intel-mpi")):
        if (folder / "bin").is_dir():
            yield choose_mpi(str(folder))


def compared(mpi: Mpi, programs: dict[str, Path], blocks: int) -> str:
    """How often the programs differ with `mpi`, in words."""
    random = np.random.default_rng(1)
    points = [
        Point((collective, size), (f"{collective} {size} warm - - -",)) for collective in COLLECTIVES for size in SIZES
    ]
    ratios: dict[object, list[float]] = defaultdict(list)
    for block in range(blocks):
        times: dict[str, dict[object, float]] = {}
        for name in random.permutation(list(programs)):
            found = launch(programs[name], mpi, points, block + 1)
            times[name] = {key: float(np.median(cell["measured"]["completion_ns"])) for key, (cell,) in found}
        for key in times["carried"].keys() & times["compiled"].keys():
            ratios[key].append(times["carried"][key] / times["compiled"][key])
    whole = [each for each in ratios.values() if len(each) == blocks]
    different, _, found_ratios = judged(whole)
    outside = np.mean((found_ratios < INDIFFERENCE[0]) | (found_ratios > INDIFFERENCE[1]))
    return (
        f"{len(whole)} points: {different:.1%} differ significantly, {outside:.1%} of the ratios are outside, "
        f"geometric mean of the ratios {np.exp(np.log(found_ratios).mean()):.3f}"
    )
