"""Tables in OSU's format are read back, and imported times are doubted on a page."""

from pathlib import Path

import pytest

from tests.report.tables.test_osu_format import cells
from timpani.campaign.folder.load import load
from timpani.imports.log_import import BenchmarkLog, import_logs, read_log
from timpani.report.page.page import render
from timpani.report.tables.campaign_tables import osu_blocks
from timpani.study.operations import COLLECTIVES


@pytest.mark.parametrize("operation", ["bandwidth", "bidirectional", "message_rate"])
def test_throughput_is_read_back(tmp_path: Path, operation: str) -> None:
    log = tmp_path / "log.txt"
    log.write_text(printed := osu_blocks(cells(operation, 1, 1024)))
    (table,) = read_log(log).tables
    assert table.collective == operation
    assert [row.message_bytes for row in table.rows] == [1, 1024]
    for row, line in zip(table.rows, printed.splitlines()[-2:], strict=True):
        assert row.average_us is not None
        assert f"{row.message_bytes / row.average_us:.2f}" == line.split()[1]


@pytest.mark.parametrize("collective", [*COLLECTIVES, "latency"])
def test_printed_osu_output_is_read_back(tmp_path: Path, collective: str) -> None:
    log = tmp_path / "log.txt"
    log.write_text(osu_blocks(cells(collective, 0), full=True, datatype_of=lambda operation: "double"))
    (table,) = read_log(log).tables
    assert table.collective == collective
    row = table.rows[0]
    assert (row.average_us, row.lowest_us, row.highest_us, row.iterations) == (0.93, 0.78, 1.07, 1000)


def test_impossible_times_of_an_imported_log_are_doubted_in_its_report(tmp_path: Path) -> None:
    log = tmp_path / "osu.log"
    rows = "".join(f"{size} {time}\n" for size, time in ((1, "0.0000001"), (2, "0.94"), (4, "0.95"), (8, "0.97")))
    log.write_text("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n" + rows)
    logs = [BenchmarkLog.parse(str(log), "default")]
    import_logs(logs, tmp_path / "old", ranks=2, machine="old", datatype=None, command="timpani import")
    html = render(load(tmp_path / "old"))
    assert "<li>bcast default on 2 ranks, 1 B: 1e-07 µs is under a nanosecond" in html
