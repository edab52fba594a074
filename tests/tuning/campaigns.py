"""Small made-up campaigns whose answers are known."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tests.campaign_files import results_frame
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.study.cell import Algorithm, Cell


def results(curves: Mapping[str, Mapping[int, Sequence[float]]], **cell: Any) -> pl.DataFrame:
    """A broadcast's results from {algorithm: {message_bytes: each launch's median in µs}}; Open MPI's where no provider
    stands before the name."""
    return results_frame(
        [
            LaunchResult(
                cell=Cell(
                    cell.get("collective", "bcast"),
                    Algorithm.parse(algorithm if "/" in algorithm else f"openmpi/{algorithm}"),
                    cell.get("ranks", 4),
                    "core",
                    size,
                    "warm",
                ),
                launch=number,
                machine="here",
                median_us=time,
                ci_low_us=time,
                ci_high_us=time,
                osu_avg_us=time,
                repetitions=100,
                simulated=cell.get("simulated", False),
            )
            for algorithm, sizes in curves.items()
            for size, times in sizes.items()
            for number, time in enumerate(times, start=1)
        ]
    )


def around(time: float, launches: int = 6) -> list[float]:
    """Launch medians within 1 % of `time`, all different."""
    return [time * (1 + 0.01 * (i / launches - 0.5)) for i in range(launches)]
