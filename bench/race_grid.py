"""What does a race over sizes and rank counts save, and cost? On synthetic machines, whose truth is known.

Hockney's model gives the times of broadcast algorithms, with latency and bandwidth drawn for each campaign, plus a
separate error of 10 %. The default is the algorithm that would be best on another machine, whose latency and bandwidth
differ by factors of about two. At one point in twenty it is any algorithm. A launch adds errors of 2 %. Printed over
all requested rank counts and sizes:

- how many were raced, and the regret of the choices there and at sampled points,
- the bounds, and whether they hold,
- results and starts, as a share of ten launches of everything. Each rank count has separate starts, as in a race.
"""

import os
from collections import Counter
from math import ceil, log2

import numpy as np

from bench.race import ACCEPTED, MAX_LAUNCHES, USUAL_LAUNCHES, Floats
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.race.agenda import Racing
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.point_weights import Point

CAMPAIGNS = int(os.environ.get("TIMPANI_BENCH_RACES", "100"))
RANKS = {
    "powers of two, 2 to 256": [2**i for i in range(1, 9)],
    "multiples of 8, 8 to 128": [8 * i for i in range(1, 17)],
}
SIZES = [2**i for i in range(3, 21)]

SEGMENT = 8192
"""Bytes of a pipelined algorithm's messages."""

DEVIATION = 0.02
"""Of a launch's errors, like the next two of logarithms."""

OWN = 0.1
"""Standard deviation of an algorithm's error of the model, as a share."""

OTHERWISE = 0.7
"""Of the latency and bandwidth by which the default chooses."""

SURPRISES = 0.05
"""The share of points at which it chooses any."""


def times(ranks: int, size: int, latency: float, per_byte: float) -> list[float]:
    """Linear, chain, binomial, pipelined binary tree, scatter and allgather by doubling, and by a ring."""
    rounds = ceil(log2(ranks))
    segments = ceil(size / SEGMENT)
    message, segment = latency + size * per_byte, latency + min(size, SEGMENT) * per_byte
    moved = 2 * size * per_byte * (ranks - 1) / ranks
    return [
        (ranks - 1) * message,
        (ranks - 2 + segments) * segment,
        rounds * message,
        2 * (rounds + segments - 1) * segment,
        2 * rounds * latency + moved,
        (rounds + ranks - 1) * latency + moved,
    ]


def truth(random: np.random.Generator, ranks: list[int]) -> dict[tuple[int, int], Floats]:
    """Log times by ranks and size, of the default first."""
    latency, per_byte = random.lognormal(0, 1), 1e-3 * random.lognormal(0, 1)
    own = random.normal(0, OWN, len(times(2, 8, latency, per_byte)))
    believed = latency * random.lognormal(0, OTHERWISE), per_byte * random.lognormal(0, OTHERWISE)
    found = {}
    for count in ranks:
        for size in SIZES:
            of_all = np.log(times(count, size, latency, per_byte)) + own
            usual = int(np.argmin(times(count, size, *believed)))
            chosen = int(random.integers(len(own))) if random.random() < SURPRISES else usual
            found[count, size] = np.concatenate([of_all[[chosen]], of_all])
    return found


def run() -> None:
    print(
        f"{CAMPAIGNS} campaigns over {len(SIZES)} sizes, regret of {ACCEPTED:.0%} accepted, "
        f"{MAX_LAUNCHES} launches at most"
    )
    for name, ranks in RANKS.items():
        random = np.random.default_rng(1)
        regrets: dict[str, list[float]] = {"default": [], "raced": [], "sampled": []}
        bounds: list[float] = []
        measured: Counter[str] = Counter()
        for _ in range(CAMPAIGNS):
            campaign(random, ranks, regrets, bounds, measured)
        asked = CAMPAIGNS * len(ranks) * len(SIZES)
        everything = asked * USUAL_LAUNCHES * (1 + len(times(2, 8, 1, 1)))
        kept = np.mean(np.array(regrets["raced"]) <= np.array(bounds))
        print(
            f"{name}: {len(bounds) / asked:.0%} of points raced, "
            f"{len(regrets['sampled']) / asked:.0%} sampled; "
            f"{measured['results'] / everything:.0%} of the results, "
            f"{measured['starts'] / (CAMPAIGNS * USUAL_LAUNCHES * len(ranks)):.0%} of the starts; of bounds at those "
            f"raced {measured['decided'] / len(bounds):.0%} reach {ACCEPTED:.0%}, 9 in 10 are at most "
            f"{np.quantile(bounds, 0.9):.1%}, and {kept:.1%} hold",
            flush=True,
        )
        for of, found in regrets.items():
            print(f"  {of}: mean regret {np.mean(found):.2%}, 99 of 100 at most {np.quantile(found, 0.99):.0%}")


def campaign(
    random: np.random.Generator,
    ranks: list[int],
    regrets: dict[str, list[float]],
    bounds: list[float],
    measured: Counter[str],
) -> None:
    """One race, to its end."""
    true = truth(random, ranks)
    algorithms = [
        Algorithm("synthetic", DEFAULT),
        *(Algorithm("synthetic", str(i)) for i in range(len(times(2, 8, 1, 1)))),
    ]
    cells = [Cell("bcast", each, at[0], "core", at[1], "warm") for at in true for each in algorithms]
    agenda = Racing(cells, MAX_LAUNCHES, ACCEPTED)
    raced: set[Point] = set()
    for launch in range(1, MAX_LAUNCHES + 1):
        wanted = sorted(agenda.wanted(launch))
        measured["results"] += len(wanted)
        measured["starts"] += len({cell.ranks for cell in wanted})
        raced |= {Point.from_cell(cell) for cell in wanted} - agenda.sampled_points(launch)
        for cell in wanted:
            time = true[cell.ranks, cell.message_bytes][algorithms.index(cell.algorithm)]
            taken = float(np.exp(time + random.normal(0, DEVIATION)))
            turn = f"{launch}/{cell.ranks}-{cell.message_bytes}"
            agenda.take(LaunchResult(cell, launch, "synthetic", median_us=taken, interleaving=turn, relative=taken))
    agenda.wanted(MAX_LAUNCHES + 1)
    for point in agenda.race.points():
        here, standing = true[point.ranks, point.message_bytes], agenda.race.standing(point)
        assert standing.choice is not None
        regret = np.expm1(here - here.min())
        regrets["raced" if point in raced else "sampled"].append(float(regret[algorithms.index(standing.choice)]))
        regrets["default"].append(float(regret[0]))
        if point in raced:
            bounds.append(standing.regret)
            measured["decided"] += standing.done
