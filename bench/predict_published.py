"""How true predictions are of published times: costs fitted to Behrooz's rows at few ranks, rows at more predicted.

Each algorithm has separate costs, as Nuriyev and Lastovetsky estimate them, since the table's algorithms disagree about
a message's time. The predictions with common costs are also printed. The table has, for each time, the algorithm's name
in Open MPI, ranks and size. It doesn't show

- which ranks share a node or a cache. Nodes of 128 cores are taken to fill up one after the other, as
  published/sources.toml has it. How many neighbors share a cache is chosen among NEIGHBORS by how well rows of few
  ranks are predicted from those of other sizes. Messages between two nodes are in none of these rows: at 256 ranks they
  are taken to cost as much as others of ranks that share no cache, as are those between the sockets of a node;
- segment sizes. Open MPI sends a tree's message whole where its user names the algorithm alone, and so do we here;
- which rank ends when. Times are OSU's averages over ranks, of one run; the clock's are those of the last rank, and
  the costs absorb the difference as far as it is one factor at all rank counts.

Behrooz has neither a chain nor a pipeline; Malasi's chain, on another machine, is at 48 ranks alone.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from bench.common.prediction_error import predicted_rows, print_summaries, summary
from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import RankPlace, SimulatedCall, Simulator
from timpani.schedules.predict.calibrate import Observation
from timpani.schedules.predict.calibration import Calibration, calibrate_from_calls
from timpani.studies.tables import printed_time, read_published
from timpani.study.cell import OWN, Algorithm

TABLE = "behrooz_bcast_scatter"
SCHEDULES = {
    ("bcast", "basic_linear"): "linear",
    ("bcast", "binary_tree"): "binary:segment_bytes=0",
    ("bcast", "knomial"): "knomial:radix=4",
    ("scatter", "basic_linear"): "linear",
    ("scatter", "binomial"): "binomial",
    ("scatter", "linear_nb"): "linear_nonblocking",
}
"""Timpani's algorithms that send the same messages as Open MPI's."""

MAX_RANKS = 32
"""Of the rows that costs are fitted to."""

NEIGHBORS = (1, 4, 8, 16)


def run() -> None:
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    by_neighbors = {count: _own_costs(simulator, count) for count in NEIGHBORS}
    errors = {count: _error(costs.values()) for count, costs in by_neighbors.items()}
    for count, error in errors.items():
        print(f"{count} neighbors with a cache: rows of sizes that were left out are off by {error:.1%} on the mean")
    count = min(errors, key=lambda each: errors[each])
    own = by_neighbors[count]
    rows = pl.concat([_predicted(simulator, costs, _rows(count, schedule)) for schedule, costs in own.items()])
    print(f"{count} neighbors:")
    print_summaries(rows, "collective algorithm", "ranks", "message_bytes")
    common = calibrate_from_calls(simulator, _few_ranks(_rows(count)), None, simulated=False)
    print(f"with costs that are common to all: {summary(_predicted(simulator, common, _rows(count)))}")


def _own_costs(simulator: Simulator, neighbors: int) -> dict[tuple[str, str], Calibration]:
    return {
        schedule: calibrate_from_calls(simulator, _few_ranks(_rows(neighbors, schedule)), None, simulated=False)
        for schedule in SCHEDULES
    }


def _error(calibrations: Iterable[Calibration]) -> float:
    return float(np.mean([np.abs(np.log(each.left_out)).mean() for each in calibrations]))


def _few_ranks(rows: Iterable[Observation]) -> list[Observation]:
    return [each for each in rows if each.call.ranks <= MAX_RANKS]


def _predicted(simulator: Simulator, calibration: Calibration, rows: Iterable[Observation]) -> pl.DataFrame:
    many = [each for each in rows if each.call.ranks > MAX_RANKS]
    return predicted_rows(simulator, calibration, {"unknown": many}, TABLE)


def _rows(neighbors: int, published: tuple[str, str] | None = None) -> Iterator[Observation]:
    """The table's times of one of SCHEDULES, or of all; `neighbors` ranks share a cache."""
    table = read_published(TABLE, "measurements")
    on_node = table.conditions.ranks_per_node
    assert on_node is not None
    for row in table.rows:
        collective, time = printed_time(row)
        key = collective, row["algorithm"]
        # The schedule of the default is unknown. One cell is empty.
        if key not in SCHEDULES or published not in (None, key) or time is None:
            continue
        ranks = int(row["ranks"])
        places = tuple(RankPlace(rank // neighbors, rank // on_node) for rank in range(ranks))
        algorithm = Algorithm.parse(f"{OWN}/{SCHEDULES[key]}")
        yield Observation(
            SimulatedCall(collective, algorithm, ranks, int(row["message_bytes"]), places=places), (time,)
        )
