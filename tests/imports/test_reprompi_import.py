"""Output of ReproMPI becomes a campaign with the median of its calls. Its reader names lines that it does not know."""

from pathlib import Path
from statistics import median

import pytest

from tests.cli.typed import typed
from timpani.campaign.folder.load import load
from timpani.imports.log_import import read_log
from timpani.imports.printed_table import PrintedFile

LOGS = Path(__file__).parents[1] / "data" / "reprompi"
LOCAL = (LOGS / "local-times.txt").read_text()
WINDOW = (LOGS / "window.txt").read_text()


def written(folder: Path, text: str) -> PrintedFile:
    """What a log with `text` holds."""
    (folder / "reprompi.txt").write_text(text)
    return read_log(folder / "reprompi.txt")


def test_the_median_of_all_calls_is_kept_with_its_interval(tmp_path: Path) -> None:
    done = typed("import", LOGS / "local-times.txt", "-o", tmp_path / "c")
    assert (done.returncode, done.stderr) == (0, "")
    results = load(tmp_path / "c").results
    assert set(results["ranks"]) == {2}
    assert set(results["mode"]) == {"warm, longest time of a rank, started by MPI_Barrier"}
    [bcast] = results.filter(collective="bcast", message_bytes=8).iter_rows(named=True)  # 2 elements of 4 bytes
    times = [1.011, 0.21, 0.24, 1.923, 0.301, 0.27, 0.301]
    assert bcast["median_us"] == pytest.approx(median(times))
    assert bcast["ci_low_us"] < bcast["median_us"] < bcast["ci_high_us"]
    assert (bcast["repetitions"], bcast["osu_avg_us"]) == (7, None)
    shown = typed("show", tmp_path / "c").stdout
    assert "interval of the calls of one launch" in shown
    assert "0.209 to 1.876" in shown
    [barrier] = results.filter(collective="barrier").iter_rows(named=True)
    assert (barrier["message_bytes"], barrier["launch"], barrier["repetitions"]) == (0, 1, 14)


def test_runs_in_one_file_are_launches(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text(LOCAL + LOCAL.replace("0.0000", "0.0001"))
    assert typed("import", tmp_path / "two.txt", "-o", tmp_path / "c").returncode == 0
    assert load(tmp_path / "c").results.filter(collective="bcast", message_bytes=8)["launch"].to_list() == [1, 2]


def test_a_printed_summary_gives_its_median_alone(tmp_path: Path) -> None:
    done = typed("import", LOGS / "summary.txt", "-o", tmp_path / "c")
    assert "summary.txt:23 is of 'Send_Recv', no collective of MPI" in done.stderr
    [bcast] = load(tmp_path / "c").results.iter_rows(named=True)
    assert (bcast["median_us"], bcast["ci_low_us"], bcast["repetitions"]) == (pytest.approx(0.275), None, 10)


def test_calls_that_missed_their_window_are_left_out_and_counted(tmp_path: Path) -> None:
    row = "MPI_Bcast          3            8          0"
    read = written(tmp_path, WINDOW.replace(row, row[:-1] + "1"))
    [late] = read.left_out
    assert "missed its window (1 row of figures)" in str(late)
    assert {table.collective: table.rows[0].iterations for table in read.tables} == {"bcast": 5, "scan": 6}
    assert read.tables[0].protocol == "longest time of a rank, started by window"


def test_global_times_are_times_until_the_last_rank_ends(tmp_path: Path) -> None:
    read = written(tmp_path, WINDOW.replace("runtime_type=local", "runtime_type=global"))
    assert {table.protocol for table in read.tables} == {"started by window"}


def test_the_block_of_a_reduce_scatter_is_counted_as_the_vector(tmp_path: Path) -> None:
    read = written(tmp_path, LOCAL.replace("MPI_Allreduce", "MPI_Reduce_scatter"))
    [table] = [table for table in read.tables if table.collective == "reduce_scatter"]
    assert [row.message_bytes for row in table.rows] == [2 * 4 * 2, 2 * 4 * 256]


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("#@nprocs=2\n", "#\n", 22, "has no '#@nprocs=…' before it"),
        ("runtime_type=local", "runtime_type=local_avg", 22, "has times of the type 'local_avg'"),
        ("nrep        count", "nrep  what count", 22, "has a column 'what'"),
        ("       test ", "process test ", 22, "has the times of each process"),
    ],
)
def test_unknown_lines_are_left_out_with_their_numbers(tmp_path: Path, old: str, new: str, line: int, why: str) -> None:
    read = written(tmp_path, LOCAL.replace(old, new))
    assert read.tables == []
    [left_out] = read.left_out
    assert left_out.where == f"{tmp_path / 'reprompi.txt'}:{line}"
    assert why in str(left_out)


def test_a_summary_without_median_is_left_out(tmp_path: Path) -> None:
    [left_out] = written(tmp_path, (LOGS / "summary.txt").read_text().replace("median_sec", "var_sec")).left_out
    assert "has no median" in str(left_out)


def test_output_of_2020_is_read(tmp_path: Path) -> None:
    older = LOCAL.replace("#@runtime_type=", "#@clocktype=").replace("#@procsync=", "#@sync=")
    assert older != LOCAL
    assert written(tmp_path, older).tables == written(tmp_path, LOCAL).tables
