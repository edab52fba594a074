"""What do times differ by, and what do ratios? Components of variance, as a standard deviation in per cent of the time.

The default broadcast under six names at three sizes, ten launches, each of which visits each size six times. A level is
a visit's median; a ratio is that of a name to the mean of the six that were interleaved.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bench.common.turns import Point, default_under, launch, open_mpi
from timpani.native.build import build
from timpani.stats.states import find_states

SIZES = (8, 1024, 32768)
NAMES, VISITS, LAUNCHES = 6, 6, 10

Floats = NDArray[np.float64]


def run() -> None:
    mpi = open_mpi()
    programs = build(mpi)
    points = [
        Point(size, tuple(default_under(name, "bcast", size) for name in range(NAMES)))
        for _ in range(VISITS)
        for size in SIZES
    ]
    levels: dict[int, list[Floats]] = defaultdict(list)  # each launch's, shape (visits, names)
    ratios: dict[int, list[Floats]] = defaultdict(list)
    looked: dict[int, list[Floats]] = defaultdict(list)
    for number in range(LAUNCHES):
        visits: dict[int, list[list[tuple[float, float, float]]]] = defaultdict(list)
        for size, cells in launch(programs, mpi, points, number + 1):
            visits[size].append(
                [
                    (float(np.median(cell["measured"]["completion_ns"])), cell["relative"], cell["probe_before_ns"][0])
                    for cell in cells
                ]
            )
        for size, each in visits.items():
            level, ratio, probe = np.moveaxis(np.array(each), 2, 0)
            levels[size].append(np.log(level))
            ratios[size].append(np.log(ratio))
            looked[size].append(probe)
    every = np.concatenate([np.array(each).ravel() for each in looked.values()])
    states = find_states(every)
    states_and_shares = zip(states.levels, states.shares, strict=True)
    print("the probe:", ", ".join(f"{level:.0f} ns in {100 * share:.0f} %" for level, share in states_and_shares))
    print("size      level: state  launch   visit    name      ratio: launch   visit")
    for size in SIZES:
        level, ratio = np.array(levels[size]), np.array(ratios[size])  # shape (launches, visits, names)
        state = states.nearest(np.array(looked[size]))
        centered = level.copy()
        for one in np.unique(state):
            centered[state == one] -= level[state == one].mean()
        explained = max(0.0, level.var() - centered.var())
        row = [explained, *_nested(centered), *_nested_ratio(ratio)]
        print(f"{size:<8}{''.join(f'{100 * np.sqrt(max(0.0, each)):10.2f}' for each in row)}")


def _nested(values: Floats) -> Iterable[float]:
    """Between launches, between visits of a launch, between names of a visit; shape (launches, visits, names)."""
    _, visits, names = values.shape
    within = values.var(axis=2, ddof=1).mean()
    visit = values.mean(axis=2).var(axis=1, ddof=1).mean() - within / names
    between = values.mean(axis=(1, 2)).var(ddof=1) - max(0.0, visit) / visits - within / (visits * names)
    return between, visit, within


def _nested_ratio(values: Floats) -> Iterable[float]:
    """What a launch gives a name for good, as by the memory that its communicator has; and each visit anew."""
    visits = values.shape[1]
    visit = values.var(axis=1, ddof=1).mean()
    return (values.mean(axis=1) ** 2).mean() - visit / visits, visit
