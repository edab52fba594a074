"""A platform calibrated by messages takes what they took."""

from pathlib import Path

import pytest

from tests.campaign_files import cells, results_of, write_campaign
from tests.cli.typed import typed
from tests.installed import needs_simgrid
from timpani.campaign.folder.load import load
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results

SIZES = [2**power for power in range(3, 21)]
SWITCH = 8192


def time_us(size: int) -> float:
    """1 µs and 1 GB/s, from 8 KiB on 5 µs and 4 GB/s."""
    return 1 + size / 1000 if size < SWITCH else 5 + size / 4000


pytestmark = needs_simgrid


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    curve = {size: [time_us(size) * (1 + 0.001 * k) for k in range(-2, 3)] for size in SIZES}
    results = results_of(cells({"default": curve}, collective="latency"))
    return write_campaign(tmp_path / "measured", results, machine={"name": "a <desk> -- mine"})


def test_simulated_messages_take_what_measured_ones_took(measured: Path, tmp_path: Path) -> None:
    platform = tmp_path / "platform.xml"
    answer = typed("machine", "calibrate", str(measured), "-o", str(platform), "--nodes", "2", "--cores", "4")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert '<prop id="memory_bytes_per_s" value="4e+09"/>' in platform.read_text()  # what the largest messages reach
    for ranks in ("2", "8"):
        folder = tmp_path / f"simulated-{ranks}"
        where = ("--on", f"simgrid:{platform}", "-o", str(folder))
        done = typed("run", "latency", "--sizes", "8,1Ki,16Ki,1Mi", "--ranks", ranks, *where)
        assert done.returncode == 0, done.stderr
        table = estimate_cells(raced_results(load(folder)))
        found = dict(zip(table["message_bytes"], table["median_us"], strict=True))
        assert found == pytest.approx({size: time_us(size) for size in found}, rel=0.03)
