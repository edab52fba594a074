from pathlib import Path

import polars as pl
import pytest

from tests.campaign_files import cell, raced, results_of
from timpani.judge.cell_table import estimate_cells
from timpani.report.tables.campaign_tables import osu_blocks

LOGS = Path(__file__).parents[2] / "data" / "osu"


def cells(collective: str, *message_bytes: int) -> pl.DataFrame:
    times = {cell("knomial", size, collective=collective, ranks=4): [2.0] for size in message_bytes}
    return estimate_cells(raced(results_of(times, osu_avg_us=0.93, osu_min_us=0.78, osu_max_us=1.07, repetitions=1000)))


@pytest.mark.parametrize(
    ("operation", "log", "title"),
    [
        ("latency", "latency-5.6.txt", "Latency"),
        ("bandwidth", "bandwidth-5.6.txt", "Bandwidth"),
        ("bidirectional", "bandwidth-5.6.txt", "Bi-Directional Bandwidth"),
    ],
)
def test_messages_between_ranks_are_laid_out_like_osus(operation: str, log: str, title: str) -> None:
    theirs = next(line for line in (LOGS / log).read_text().splitlines() if line.startswith("1 "))
    ours = osu_blocks(cells(operation, 1)).splitlines()
    assert ours[1] == f"# OSU MPI {title} Test v7.4"
    assert len(ours[-1]) == len(theirs)
    assert len(ours[-2]) == len("# Size      Bandwidth (MB/s)")
