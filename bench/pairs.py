"""Are equal things found equal, and is a small difference found? On real launches, in whatever states the machine is.

First the default versus itself under another name: pairs at 20 points, ten names per point, ten launches per campaign.
Each pair is tested separately at 5 %. Then a broadcast of 1 KiB versus one that takes 5 % longer by the clock, with
eight launches per campaign. Each launch visits the two VISITS times; the n-th visits of eight launches are a campaign.
"""

import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from bench.common.turns import Point, default_under, delayed, judged, launch, open_mpi
from timpani.native.build import build

COLLECTIVES = ("bcast", "reduce", "allreduce", "alltoall")
SIZES = (8, 256, 4096, 32768, 262144)
NAMES = 10
CAMPAIGNS, LAUNCHES = 10, 10

FACTOR = 1.05
VISITS, SETS, FEW_LAUNCHES = 20, 5, 8


def run() -> None:
    _equal()
    _planted()


def _equal() -> None:
    mpi = open_mpi()
    programs = build(mpi)
    points = [
        Point((collective, size), tuple(default_under(name, collective, size) for name in range(NAMES)))
        for collective in COLLECTIVES
        for size in SIZES
    ]
    pairs: list[list[float]] = []
    for campaign in range(CAMPAIGNS):
        ratios: dict[tuple[object, int], list[float]] = defaultdict(list)
        for number in range(LAUNCHES):
            for key, cells in launch(programs, mpi, points, LAUNCHES * campaign + number + 1):
                for first in range(0, NAMES, 2):
                    ratios[key, first].append(cells[first]["relative"] / cells[first + 1]["relative"])
        pairs += ratios.values()
    different, holds, found = judged(pairs)
    off = np.abs(np.log(found))
    print(f"default against itself, {len(pairs)} pairs, {mpi.title}")
    print(f"tied: {100 * (1 - different):.1f} % (at least 95); intervals that hold 1: {100 * holds:.1f} % (93 to 97)")
    print(f"ratio off by {100 * np.median(off):.2f} % (median), {100 * np.quantile(off, 0.95):.2f} % (19 of 20 less)")


def _planted() -> None:
    mpi = open_mpi()
    with tempfile.TemporaryDirectory() as root:
        programs = delayed(Path(root) / "native", mpi, FACTOR)
    cells = tuple(f"setup 1024 warm - - planted/{which}" for which in ("slower", "plain"))
    points = [Point(visit, cells) for visit in range(VISITS)]
    pairs: list[list[float]] = []
    for campaigns in range(SETS):
        ratios: dict[object, list[float]] = defaultdict(list)
        for number in range(FEW_LAUNCHES):
            for visit, (slower, plain) in launch(programs, mpi, points, FEW_LAUNCHES * campaigns + number + 1):
                ratios[visit].append(slower["relative"] / plain["relative"])
        pairs += ratios.values()
    different, _, found = judged(pairs)
    print(
        f"a broadcast of 1 KiB that takes {100 * (FACTOR - 1):.0f} % longer, {len(pairs)} campaigns of {FEW_LAUNCHES}"
    )
    print(f"found significant: {100 * different:.0f} % (at least 90)")
    print(
        f"ratio {np.median(found):.3f}, {np.quantile(found, 0.05):.3f} … {np.quantile(found, 0.95):.3f} in nine of ten"
    )
