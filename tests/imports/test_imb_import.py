"""Output of IMB-MPI1 becomes a campaign. Its reader names each line that it does not know, and guesses nothing."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from timpani.campaign.folder.load import load
from timpani.errors import UserError
from timpani.imports.log_import import read_log
from timpani.imports.printed_table import PrintedFile

LOG = Path(__file__).parents[1] / "data" / "imb" / "five-benchmarks-2021.11.txt"

TABLE = """
#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.40         0.60         0.50
           16         1000         0.50         0.70         0.60
"""


def written(folder: Path, text: str) -> PrintedFile:
    """What a log with `text` holds."""
    (folder / "imb.txt").write_text(text)
    return read_log(folder / "imb.txt")


def test_a_log_becomes_a_campaign_with_its_rank_counts(tmp_path: Path) -> None:
    done = typed("import", LOG, "-o", tmp_path / "c", "--machine", "old")
    assert done.returncode == 0, done.stderr
    assert f"Left out: {LOG}:46 is IMB's Sendrecv" in done.stderr
    assert "(5 rows of figures)" in done.stderr
    results = load(tmp_path / "c").results
    counts = results["collective"].value_counts().sort("collective").rows()
    assert counts == [("allreduce", 5), ("barrier", 1), ("bcast", 5), ("latency", 5)]
    assert set(results["ranks"]) == {2}
    [bcast] = results.filter(collective="bcast", message_bytes=64).iter_rows(named=True)
    assert (bcast["osu_avg_us"], bcast["osu_min_us"], bcast["osu_max_us"], bcast["repetitions"]) == (
        0.46,
        0.06,
        0.86,
        20,
    )
    [latency] = results.filter(collective="latency", message_bytes=8).iter_rows(named=True)
    assert (latency["osu_avg_us"], latency["median_us"]) == (0.35, None)
    header = load(tmp_path / "c").header
    assert [header.study.datatype_of(name) for name in ("bcast", "allreduce")] == ["MPI_BYTE", "MPI_FLOAT"]


def test_a_rank_count_that_contradicts_the_log_is_refused(tmp_path: Path) -> None:
    refused = typed("import", LOG, "-o", tmp_path / "c", "--ranks", "4")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "ran on 2 ranks, not 4" in refused.stderr


def test_each_rank_count_of_a_run_is_a_table(tmp_path: Path) -> None:
    fewer = TABLE.replace("= 4", "= 2").replace("#---", "# ( 2 additional processes waiting in MPI_Barrier)\n#---", 2)
    read = written(tmp_path, fewer + TABLE)
    assert [(table.ranks, len(table.rows)) for table in read.tables] == [(2, 2), (4, 2)]
    assert not read.left_out


def test_ranks_in_another_order_and_launcher_prefixes_are_read(tmp_path: Path) -> None:
    ordered = TABLE.replace("# #processes = 4", "# #processes = 4; rank order (rowwise):\n     0     2     1     3\n#")
    prefixed = "".join(f"[1,0]<stdout>:{line}\n" for line in ordered.splitlines())
    [table] = written(tmp_path, prefixed).tables
    assert (table.ranks, [row.message_bytes for row in table.rows]) == (4, [8, 16])


def test_options_that_change_times_are_part_of_the_mode(tmp_path: Path) -> None:
    called = "# Calling sequence was: \n\n# ./IMB-MPI1 Bcast -off_cache -1 -msglog 3:4 -imb_barrier 1\n"
    (tmp_path / "imb.txt").write_text(called + TABLE)
    assert typed("import", tmp_path / "imb.txt", "-o", tmp_path / "c").returncode == 0
    assert set(load(tmp_path / "c").results["mode"]) == {"warm, -off_cache -1 -imb_barrier 1"}


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("Benchmarking Bcast", "Benchmarking Multi-Bcast", 3, "groups of ranks ran at the same time"),
        ("Benchmarking Bcast", "Benchmarking Unknown", 3, "is IMB's Unknown"),
        ("t_avg[usec]", "t_avg[usec]  t_ovrl[usec]", 6, "has a column 't_ovrl[usec]'"),
        ("t_avg[usec]", "", 6, "has no column of time"),
        ("# #processes = 4", "#", 6, "has no '# #processes"),
        ("# #processes = 4", "# #processes = 4\n# MORE", 5, "which is no line of IMB's that Timpani reads"),
        (
            "16         1000         0.50",
            "16 out-of-mem.; needed X=   0.017 GB; use",
            8,
            "has no time for 16 B: out-of-mem",
        ),
        ("           16 ", "            4 ", 8, "goes back to 4 B"),
        ("           16 ", "lost connection\n           16 ", 8, "is no row of the table around it: 'lost connection'"),
        ("           16 ", f"{'x' * 2000}\n\ny\n           16 ", 8, "x'; further such lines before the next row: 1"),
    ],
)
def test_unknown_lines_are_left_out_with_their_numbers(tmp_path: Path, old: str, new: str, line: int, why: str) -> None:
    [left_out] = written(tmp_path, TABLE.replace(old, new)).left_out
    assert left_out.where == f"{tmp_path / 'imb.txt'}:{line}"
    assert why in str(left_out)


def test_lines_after_a_table_are_other_programs(tmp_path: Path) -> None:
    read = written(tmp_path, f"{TABLE}done\n{'x' * 2000}\n{TABLE}done\n")
    assert [len(table.rows) for table in read.tables] == [2, 2]
    assert read.left_out == []


def test_other_parts_of_imb_are_left_out(tmp_path: Path) -> None:
    [left_out] = written(tmp_path, "#    Intel(R) MPI Benchmarks 2021.11, MPI-NBC part\n" + TABLE).left_out
    assert "is IMB-MPI-NBC's Bcast" in str(left_out)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("0.50         0.70         0.60", "0.50", ":8 is incomplete"),
        ("0.60\n", "nan\n", ":8 is incomplete"),
        ("16         1000 ", "16         1e3 ", ":8 is incomplete"),
    ],
)
def test_a_torn_row_is_refused_with_its_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    lines = TABLE.splitlines(keepends=True)
    torn = "".join(lines[:7]) + lines[7].replace(old, new)
    with pytest.raises(UserError, match=why):
        written(tmp_path, torn)


def test_two_benchmarks_in_one_file_are_refused(tmp_path: Path) -> None:
    osu = "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1                       0.93\n"
    with pytest.raises(UserError, match=r"holds output of OSU \(line 1\) and IMB \(line 6\)"):
        written(tmp_path, osu + TABLE)
