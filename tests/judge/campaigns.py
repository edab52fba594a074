"""Small made-up campaigns whose answers are known."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tests.campaign_files import cells, results_frame, results_of


def results(curves: Mapping[str, Mapping[int, Sequence[float]]], simulated: bool = False, **about: Any) -> pl.DataFrame:
    """A broadcast's results from {algorithm: {message_bytes: each launch's median in µs}}; Open MPI's where no provider
    stands before the name. `about` are keywords of `cell`."""
    return results_frame(results_of(cells(curves, **{"ranks": 4, **about}), simulated=simulated))


def around(time: float, launches: int = 6) -> list[float]:
    """Launch medians within 1 % of `time`, all different."""
    return [time * (1 + 0.01 * (i / launches - 0.5)) for i in range(launches)]
