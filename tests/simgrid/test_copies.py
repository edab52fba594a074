"""What copying inside a simulated node costs: messages, and matrices that are put in order."""

from pathlib import Path

import polars as pl
import pytest

from tests.cli.typed import typed
from tests.installed import needs_simgrid
from timpani.campaign.folder.load import load
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results

pytestmark = needs_simgrid

RATE = 12_500.0  # MB/s that a core of four-groups-of-4 copies, so bytes a µs
SIZES = (64, 65536, 1048576)


def measured(folder: Path, *arguments: str) -> pl.DataFrame:
    done = typed("run", *arguments, "--on", "simgrid:four-groups-of-4", "-o", folder)
    assert done.returncode == 0, done.stderr
    cells = estimate_cells(raced_results(load(folder)))
    assert cells["error"].null_count() == cells.height, cells["error"].to_list()
    return cells


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("copies")
    sizes = ",".join(map(str, SIZES))
    return pl.concat(
        [
            measured(folder / "bandwidth", "bandwidth", "latency", "--sizes", sizes, "--ranks", "2"),
            measured(folder / "transpose", "transpose", "--algorithms", "all", "--sizes", sizes, "--ranks", "5"),
        ]
    )


def test_no_pair_sends_faster_than_a_core_copies(messages: pl.DataFrame) -> None:
    """However many messages are under way: they were all given the whole rate, 64 times it in a window of 64."""
    rates = messages.filter(pl.col("collective").is_in(["bandwidth", "latency"]))["throughput_mb_per_s"]
    assert 0.9 * RATE < rates.max() <= RATE  # type: ignore[operator]


def test_a_copy_takes_what_its_bytes_do(messages: pl.DataFrame) -> None:
    copied = messages.filter(algorithm="local_memcpy", message_bytes=1048576)["median_us"].item()
    assert copied == pytest.approx(1048576 / RATE, rel=0.01)


def test_a_matrix_takes_longer_by_columns_than_as_it_is(messages: pl.DataFrame) -> None:
    times = {
        size: dict(part.select("algorithm", "median_us").iter_rows())
        for (size,), part in messages.filter(collective="transpose").group_by("message_bytes")
    }
    for size, by_way in times.items():
        ordered = {by_way[way] for way in ("nested_datatype", "packed")}
        assert by_way["plain_message"] < min(ordered), size
        assert max(ordered) < by_way["column_by_column"], size
        assert by_way["local_copy"] > 0, size


def test_cores_of_a_node_are_one_node(tmp_path: Path) -> None:
    """Two nodes of a group: every byte crosses one port once, where ranks that knew no nodes would send it 16 times."""
    cells = measured(
        *(tmp_path / "nodes", "bcast", "--algorithms", "timpani/two_level_linear,timpani/linear", "--sizes", "1Mi"),
        *("--ranks", "32", "--placement", "core"),
    )
    times = dict(cells.select("algorithm", "median_us").iter_rows())
    assert times["two_level_linear"] < 0.7 * times["linear"]
