"""A campaign of messages between ranks and of transposes whose times come from formulas."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tests.campaign_files import start
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.study.cell import Algorithm, Cell, parse_parameters

LAUNCHES = 6
RANKS = 4
SIZES = tuple(4**power for power in range(12))
PAIRS = tuple(combinations(range(RANKS), 2))

# µs of a message of no bytes and µs per KiB, by how close the ranks sit: 0 and 1, 2 and 3 share a cache
NEAR, FAR = (0.2, 0.05), (0.6, 0.12)
WAYS = {
    "plain_message": (0.3, 0.1),
    "local_memcpy": (0.01, 0.06),
    "packed": (0.32, 0.25),
    "nested_datatype": (0.5, 1.1),
    "column_by_column": (0.3, 2.0),
    "local_copy": (0.02, 0.14),
    "alltoall": (0.4, 0.3),
}

MACHINE: dict[str, Any] = {
    "name": "desk",
    "cpu": "Example CPU",
    "domains": {"core": ["0", "1", "2", "3"], "last_level_cache": ["0-1", "2-3"], "socket": ["0-3"]},
}


def timed(cell: Cell, launch: int, median: float, **values: Any) -> LaunchResult:
    """A result with an interval of 2 % to both sides."""
    low, high = median * 0.98, median * 1.02
    return LaunchResult(
        cell, launch, "desk", median_us=median, ci_low_us=low, ci_high_us=high, repetitions=100, **values
    )


def message_results() -> list[LaunchResult]:
    """Latency and bandwidth of all pairs of 4 ranks, and 7 ways to transpose on 2, in 6 launches.

    The farthest pair did not converge at 4 B.
    """
    random_numbers = random.Random(7)

    def results(operation: str, algorithm: Algorithm, ranks: int, costs: tuple[float, float]) -> Iterator[LaunchResult]:
        unsteady = dict(algorithm.parameters).get("second") == 3 and dict(algorithm.parameters)["first"] == 0
        for launch in range(1, LAUNCHES + 1):
            for size in SIZES if operation != "transpose" else SIZES[2:]:
                median = (costs[0] + costs[1] * size / 1024) * random_numbers.uniform(0.97, 1.03)
                cell = Cell(operation, algorithm, ranks, "core", size, "warm")
                steady = not (size == 4 and unsteady)
                yield timed(cell, launch, median, osu_avg_us=median, skew_us=0.0, converged=steady)

    found: list[LaunchResult] = []
    for first, second in PAIRS:
        base, per_kib = NEAR if first // 2 == second // 2 else FAR
        for operation, more, share in (("latency", "", 1.0), ("bandwidth", ",window=64", 0.5)):
            parameters = parse_parameters(f"first={first},second={second}{more}")
            algorithm = Algorithm("openmpi", "default", parameters)
            found += results(operation, algorithm, RANKS, (base * share, per_kib * share))
    for way, costs in WAYS.items():
        found += results("transpose", Algorithm("timpani", way), 2, costs)
    return found


def message_header() -> dict[str, Any]:
    return {"study": {"title": "Messages and transposes"}, "machine": MACHINE}


def message_launches() -> list[dict[str, Any]]:
    return [
        start(launch, ["desk"] * ranks, part=f"{launch:04d}-{ranks}")
        for launch in range(1, LAUNCHES + 1)
        for ranks in (2, RANKS)
    ]
