"""A campaign of messages between ranks and of transposes whose times come from formulas."""

import random
from itertools import combinations
from typing import Any

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
    results = []

    def add(
        operation: str, algorithm: Algorithm, ranks: int, costs: tuple[float, float], unsteady: bool = False
    ) -> None:
        for launch in range(1, LAUNCHES + 1):
            for size in SIZES if operation != "transpose" else SIZES[2:]:
                median = (costs[0] + costs[1] * size / 1024) * random_numbers.uniform(0.97, 1.03)
                cell = Cell(operation, algorithm, ranks, "core", size, "warm")
                steady = not (size == 4 and unsteady)
                results.append(timed(cell, launch, median, osu_avg_us=median, skew_us=0.0, converged=steady))

    for first, second in PAIRS:
        costs = NEAR if first // 2 == second // 2 else FAR
        for operation, more in (("latency", ""), ("bandwidth", ",window=64")):
            parameters = parse_parameters(f"first={first},second={second}{more}")
            share = 1.0 if operation == "latency" else 0.5
            add(
                operation,
                Algorithm("openmpi", "default", parameters),
                RANKS,
                (costs[0] * share, costs[1] * share),
                unsteady=(first, second) == (0, 3),
            )
    for way, costs in WAYS.items():
        add("transpose", Algorithm("timpani", way), 2, costs)
    return results


def message_header() -> dict[str, Any]:
    return {
        "timpani": "0.1.0",
        "created": "2025-01-31T12:00:00+00:00",
        "study": {
            "title": "Messages and transposes",
            "method": "timpani",
            "datatype": "uint8",
            "launches": LAUNCHES,
            "seed": 1,
            "collectives": {"latency": ["default"], "bandwidth": ["default"], "transpose": list(WAYS)},
            "ranks": [2, RANKS],
            "sizes": list(SIZES),
        },
        "machine": MACHINE,
        "mpi": {"kind": "openmpi", "version": "5.0.11", "mpirun": "/opt/mpi/bin/mpirun"},
        "left_out": [],
        "commands": ["timpani run messages.toml -o campaign"],
    }


def message_launches() -> list[dict[str, Any]]:
    return [
        {
            "launch": launch,
            "placement": "core",
            "part": f"{launch:04d}-{ranks}",
            "seconds": 2.0,
            "exit": 0,
            "ranks": [{"rank": rank, "host": "desk", "cores": [rank]} for rank in range(ranks)],
        }
        for launch in range(1, LAUNCHES + 1)
        for ranks in (2, RANKS)
    ]
