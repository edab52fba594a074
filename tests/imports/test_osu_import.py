from pathlib import Path
from typing import Any

import pytest

from tests.installed import needs_compiler
from tests.report.document.test_output_files import full_after
from timpani.campaign.folder.load import Campaign, load
from timpani.errors import UserError
from timpani.imports.log_import import BenchmarkLog, Imported, import_logs, read_log
from timpani.imports.printed_table import PrintedFile, PrintedTable
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.tables.campaign_tables import osu_blocks

LOGS = Path(__file__).parents[1] / "data" / "osu"
CONDITIONS: dict[str, Any] = {"ranks": 4, "machine": "old", "datatype": None, "command": "import"}


def imported(folder: Path, *names: str, **options: Any) -> Campaign:
    algorithm = options.pop("algorithm", "default")
    import_logs([BenchmarkLog.parse(str(LOGS / name), algorithm) for name in names], folder, **CONDITIONS | options)
    return load(folder)


def written(folder: Path, text: str) -> PrintedFile:
    """What a log with `text` holds."""
    (folder / "log.txt").write_text(text)
    return read_log(folder / "log.txt")


def kept(folder: Path, text: str, **options: Any) -> tuple[Campaign, Imported]:
    """The campaign that a log with `text` becomes, and what the import says about it."""
    (folder / "log.txt").write_text(text)
    said = import_logs(
        [BenchmarkLog.parse(str(folder / "log.txt"), "default")], folder / "c", **CONDITIONS | {"ranks": 2} | options
    )
    return load(folder / "c"), said


def figures(table: PrintedTable) -> list[tuple[int, float | None]]:
    return [(row.message_bytes, row.average_us) for row in table.rows]


@pytest.mark.parametrize(
    ("name", "collective", "rows", "first"),
    [
        ("bcast-5.6.txt", "bcast", 14, (1, 0.93)),
        ("latency-5.6.txt", "latency", 15, (0, 0.21)),
        ("bandwidth-5.6.txt", "bandwidth", 14, (1, 1 / 9.10)),
        ("allreduce-6.1-noise.txt", "allreduce", 12, (4, 0.93)),
        ("bcast-7.4-full.txt", "bcast", 14, (1, 0.93)),
        ("barrier-7.4.txt", "barrier", 1, (0, 1.47)),
        ("barrier-7.4-full.txt", "barrier", 1, (0, 1.47)),
        ("alltoall-7.5-percentiles.txt", "alltoall", 14, (1, 0.93)),
        ("scatter-7.5-validated.txt", "scatter", 6, (1, 0.93)),
    ],
)
def test_every_version_and_shape_is_read(name: str, collective: str, rows: int, first: tuple[int, float]) -> None:
    (table,) = read_log(LOGS / name).tables
    assert (table.collective, len(table.rows)) == (collective, rows)
    assert (table.rows[0].message_bytes, table.rows[0].average_us) == first


def test_lines_and_columns_that_are_left_out_are_named() -> None:
    [left] = read_log(LOGS / "allreduce-6.1-noise.txt").left_out
    assert str(left).endswith(
        "noise.txt:17 is no row of the table around it: '[node03:12345] 3 more processes said the same'"
    )
    [left] = read_log(LOGS / "alltoall-7.5-percentiles.txt").left_out
    assert "percentiles, which are not imported" in str(left)


@pytest.mark.parametrize("name", ["bcast-7.4-full.txt", "barrier-7.4-full.txt", "alltoall-7.5-percentiles.txt"])
def test_full_columns_are_taken_by_their_names(name: str) -> None:
    row = read_log(LOGS / name).tables[0].rows[0]
    assert row.lowest_us is not None
    assert row.highest_us is not None
    assert row.average_us is not None
    assert row.lowest_us < row.average_us < row.highest_us
    assert row.iterations == 1000


@needs_compiler
def test_a_campaign_holds_averages_and_no_medians(tmp_path: Path) -> None:
    campaign = imported(tmp_path / "old", "bcast-7.4-full.txt", algorithm="knomial:radix=4")
    row = campaign.results.row(0, named=True)
    assert (row["provider"], row["algorithm"], row["parameters"]) == ("imported", "knomial", "radix=4")
    assert (row["ranks"], row["machine"], row["launch"]) == (4, "old", 1)
    assert (row["median_us"], row["osu_avg_us"], row["repetitions"]) == (None, 0.93, 1000)


def test_the_kth_file_of_a_cell_is_its_launch_k(tmp_path: Path) -> None:
    campaign = imported(tmp_path / "old", "bcast-7.4-full.txt", "barrier-7.4.txt", "bcast-7.4-full-second.txt")
    assert campaign.results.filter(collective="bcast", message_bytes=8)["launch"].to_list() == [1, 2]
    assert campaign.results.filter(collective="barrier")["launch"].to_list() == [1]
    cell = estimate_cells(raced_results(campaign)).filter(collective="bcast", message_bytes=65536).row(0, named=True)
    assert cell["osu_avg_us"] == pytest.approx((8.21 + 9.03) / 2)
    assert (cell["launches"], cell["median_us"]) == (2, None)


def test_a_failed_validation_is_a_failed_result(tmp_path: Path) -> None:
    cells = estimate_cells(raced_results(imported(tmp_path / "old", "scatter-7.5-validated.txt")))
    failed = cells.filter(status="failed").row(0, named=True)
    assert (failed["message_bytes"], failed["osu_avg_us"]) == (8, None)
    assert "scatter-7.5-validated.txt:8" in failed["error"]


def test_the_cells_of_several_datatypes_are_kept_apart(tmp_path: Path) -> None:
    campaign = imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt")
    cells = estimate_cells(raced_results(campaign)).filter(message_bytes=128).sort("mode")
    assert cells.select("mode", "osu_avg_us", "launches").rows() == [
        ("warm, MPI_FLOAT", 1.89, 1),
        ("warm, MPI_INT", 0.94, 1),
    ]
    assert campaign.header.study.datatype_of("reduce") == "MPI_FLOAT, MPI_INT"
    assert not campaign.header.left_out
    printed = osu_blocks(cells, datatype_of=campaign.header.study.datatype_of)
    assert [line for line in printed.splitlines() if "Datatype" in line] == [
        "# Datatype: MPI_FLOAT.",
        "# Datatype: MPI_INT.",
    ]


def test_one_of_several_datatypes_may_be_chosen(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MPI_FLOAT"):
        imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt", datatype="MPI_FLAOT")
    campaign = imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt", datatype="MPI_FLOAT")
    assert campaign.results["osu_avg_us"].min() == 1.86
    assert campaign.header.study.datatype == "MPI_FLOAT"
    assert "MPI_INT" in campaign.header.left_out[0]


def test_a_log_of_other_benchmarks_alone_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ibcast-7.4.txt:[12] is of OSU's Non-blocking Broadcast Latency test"):
        imported(tmp_path / "c", "ibcast-7.4.txt")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("nothing of OSU's\n", ":1 is no benchmark's output"),
        ("\x00\x01\xff", ":1 is no benchmark's output"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    2.0\n1024\n", ":4 is incomplete"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    nan\n", ":3 is incomplete"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    2.0 x\n", ":3 is incomplete"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    1,234\n", ":3 is incomplete"),
        ("# OSU MPI Bandwidth Test v7.4\n# Size       Bandwidth (MB/s)\n1    0.0\n", ":3 says that nothing was moved"),
    ],
)
def test_text_other_than_osu_output_is_named_with_its_line(tmp_path: Path, text: str, where: str) -> None:
    log = tmp_path / "log.txt"
    log.write_text(text, errors="surrogateescape")
    with pytest.raises(UserError) as error:
        read_log(log)
    assert f"{log}{where}" in str(error.value)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        imported(tmp_path, "bcast-5.6.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("size", [100, 3000])
def test_an_import_on_a_full_disk_is_repeated_by_the_same_command(size: int, tmp_path: Path) -> None:
    """There is no room for the header, or none for all results."""
    with full_after(size), pytest.raises(UserError, match=r"make room, then give the same command again"):
        imported(tmp_path / "c", "bcast-5.6.txt")
    assert not (tmp_path / "c").exists() or [each.name for each in (tmp_path / "c").iterdir()] == ["lock"]
    imported(tmp_path / "c", "bcast-5.6.txt")
    assert (tmp_path / "c" / "results.jsonl").stat().st_size > 3000


def test_an_unreadable_file_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        imported(tmp_path / "old", "bcast-5.6.txt", "missing.txt")
    assert not (tmp_path / "old").exists()


@needs_compiler
def test_each_imported_file_may_name_an_algorithm(tmp_path: Path) -> None:
    first, second = LOGS / "bcast-7.4-full.txt", LOGS / "bcast-5.6.txt"
    logs = [BenchmarkLog.parse(f"chain:fanout=4={first}", "default"), BenchmarkLog.parse(str(second), "basic_linear")]
    import_logs(logs, tmp_path / "both", **CONDITIONS)
    labels = set(estimate_cells(raced_results(load(tmp_path / "both")))["label"])
    assert labels == {"chain:fanout=4", "linear"}  # the canonical name


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "chain=4.log"
    path.write_text((LOGS / "bcast-5.6.txt").read_text())
    assert BenchmarkLog.parse(str(path), "default").path == path


def test_the_same_file_twice_is_no_second_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"bcast-5\.6\.txt is named twice"):
        imported(tmp_path / "c", "bcast-5.6.txt", "../osu/bcast-5.6.txt")
    assert not (tmp_path / "c").exists()


def test_a_copy_under_another_name_is_no_second_run(tmp_path: Path) -> None:
    log = LOGS / "bcast-5.6.txt"
    (tmp_path / "chain.log").write_text("# of the chain\n" + log.read_text())
    logs = [BenchmarkLog.parse(f"default={log}", ""), BenchmarkLog.parse(f"chain={tmp_path / 'chain.log'}", "")]
    with pytest.raises(UserError, match=r"chain\.log:\d+ repeats the table at .*bcast-5\.6\.txt:\d+; leave one out"):
        import_logs(logs, tmp_path / "c", **CONDITIONS)
    appended = tmp_path / "appended.log"
    appended.write_text(log.read_text() * 2)
    with pytest.raises(UserError, match=r"appended\.log:\d+ repeats the table at .*appended\.log:\d+"):
        import_logs([BenchmarkLog.parse(str(appended), "default")], tmp_path / "c", **CONDITIONS)


def test_messages_between_two_ranks_need_no_rank_count(tmp_path: Path) -> None:
    assert set(imported(tmp_path / "c", "latency-5.6.txt", "bandwidth-5.6.txt", ranks=None).results["ranks"]) == {2}
    with pytest.raises(UserError, match=r"bcast-5\.6\.txt doesn't say how many ranks ran; add --ranks N"):
        imported(tmp_path / "d", "bcast-5.6.txt", ranks=None)


BCAST = "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    2.00\n2    2.10\n"
RATE = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n# [ pairs: {} ] [ window size: {} ]\n"
RATE += "# Size                  MB/s        Messages/s\n"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("# OSU MPI_Put Latency Test v5.8\n# Size  Latency (us)\n4  0.20\n", 5, "is of OSU's MPI_Put Latency test"),
        ("# OSU One Sided MPI_Get Latency Test v3.1\n# Size  Latency (us)\n4  0.2\n", 5, "One Sided MPI_Get Latency"),
        ("# OSU Allreduce Test v7.4\n# Size (B)  Latency (us)\n4  0.20\n", 5, "is of OSU's Allreduce test"),
        ("# OMB Python MPI Allreduce Test\n# Size (B)  Latency (us)\n4  0.20\n", 5, "Python MPI Allreduce"),
        ("# OSU MPI Latency Persistent Test v7.4\n# Size  Avg Latency(us)\n4  0.20\n", 5, "Latency Persistent test"),
        ("# OSU MPI Latency Test v7.4\n# Loops: 5\n# Size  Latency (us)\n4  0.20\n", 6, "has '# Loops: 5', which is"),
        ("# OSU MPI Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)  Transmit Size\n4  0.2  4\n", 6, "'Transmit Size'"),
        ("# OSU MPI Bandwidth Test v7.4\n# Size  Avg Latency(us)\n4  0.20\n", 6, "no column of size and throughput"),
        ("# OSU MPI Barrier Latency Test v7.4\n# Size  Avg Latency(us)\n4  0.20\n", 6, "has no column of time"),
        (RATE.format(2, "varied") + "8  1.00  2.00\n", 6, "window size: varied ]', which is no line of OSU's"),
        ("# algorithm: chain\n# Size  Avg Latency(us)\n4  0.20\n", 5, "has '# algorithm: chain', which is"),
        ("1    9.00\n", 5, "goes back to 1 B, as in another run"),
        ("2    9.00\n", 5, "goes back to 2 B, as in another run"),
        ("> # OSU MPI Latency Test v7.4\n> # Size  Latency (us)\n4  0.20\n", 5, "has '> ' before OSU's title"),
        ("node01: # OSU MPI Latency Test v7.4\n4  0.20\n", 5, "has 'node01: ' before OSU's title"),
    ],
)
def test_a_line_outside_the_grammar_ends_the_table_and_is_named(tmp_path: Path, text: str, line: int, why: str) -> None:
    file = written(tmp_path, BCAST + text)
    (table,) = file.tables
    assert figures(table) == [(1, 2.0), (2, 2.1)]
    (left,) = file.left_out
    assert f"log.txt:{line} " in str(left)
    assert why in str(left)
    assert left.rows == 1


PERCENTILES = "# Size      MB/s   Messages/s P50 Tail BW(MB/s) P99.9 Tail BW(MB/s)\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (BCAST.replace(".00", ",00").replace(".10", ",10"), [(1, 2.0), (2, 2.1)]),
        (BCAST.replace("Test v7.4", "Test v7.0-site3"), [(1, 2.0), (2, 2.1)]),
        ("# OSU MPI Latency Test (Version 2.1)\n# Size\t\tLatency (us)\n0\t\t0.64\n", [(0, 0.64)]),
        (f"{RATE.format(1, 64).rpartition('# Size')[0]}{PERCENTILES}8  4.00  500000.00  3.90  4.20\n", [(8, 2.0)]),
    ],
    ids=["decimal comma", "version of a fork", "oldest layout", "one space between headings"],
)
def test_unusual_layouts_are_read(tmp_path: Path, text: str, rows: list[tuple[int, float]]) -> None:
    (table,) = written(tmp_path, text).tables
    assert figures(table) == rows


@pytest.mark.parametrize(
    "text",
    [
        "# OSU MPI Broadcast Latency Test v7.4\n",
        "# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n",
        "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\nmpirun was killed\n" + BCAST,
    ],
)
def test_a_title_without_a_row_is_reported(tmp_path: Path, text: str) -> None:
    assert [str(left).partition(";")[0] for left in written(tmp_path, text).left_out] == [
        f"{tmp_path}/log.txt:1 has no row under it"
    ]


def test_a_log_of_everything_is_imported_as_far_as_it_can_be(tmp_path: Path) -> None:
    put = "# OSU MPI_Put Latency Test v5.8\n# Size  Latency (us)\n4  0.20\n8  0.30\n"
    latency = "# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n4  0.80\n"
    campaign, said = kept(tmp_path, put + latency + BCAST)
    assert sorted(campaign.results["osu_avg_us"]) == [0.8, 2.0, 2.1]
    left_out = f"{tmp_path}/log.txt:1 is of OSU's MPI_Put Latency test (2 rows of figures)"
    assert (list(campaign.header.left_out), said.notes) == ([left_out], [f"Left out: {left_out}"])


@pytest.mark.parametrize(
    "prefix", ["0: ", "00: ", "[0] ", "[1,0]<stdout>:", "[prterun-n1-77@1,0]<stdout>: ", "   ", "\t"]
)
def test_prefixes_of_launchers_are_ignored(tmp_path: Path, prefix: str) -> None:
    (table,) = written(tmp_path, "".join(f"{prefix}{line}\n" for line in BCAST.splitlines())).tables
    assert figures(table) == [(1, 2.0), (2, 2.1)]


def test_an_unknown_prefix_is_named_with_the_command_that_removes_it(tmp_path: Path) -> None:
    text = "".join(f"12:00:01 | {line}\n" for line in BCAST.splitlines())
    (left,) = written(tmp_path, text).left_out
    assert f"`sed 's/^.\\{{11\\}}//' {tmp_path}/log.txt` removes it" in left.step


def test_buffers_of_devices_and_hosts_are_cells_of_their_own(tmp_path: Path) -> None:
    title = "# OSU MPI-CUDA Latency Test v5.9\n"
    place = "# Send Buffer on {0} and Receive Buffer on {0}\n# Size  Latency (us)\n"
    text = "".join(
        title + place.format(buffer) + f"4  {time}\n" for buffer, time in (("DEVICE (D)", 20), ("HOST (H)", 0.3))
    )
    plain = "# OSU MPI Latency Test v5.9\n# Size  Latency (us)\n4  0.25\n"
    campaign, _ = kept(tmp_path, text + plain)
    cells = estimate_cells(raced_results(campaign))
    assert dict(zip(cells["mode"], cells["osu_avg_us"], strict=True)) == {
        "warm": 0.25,
        "warm, MPI-CUDA, DEVICE (D) to DEVICE (D)": 20.0,
        "warm, MPI-CUDA, HOST (H) to HOST (H)": 0.3,
    }


def test_launches_that_differ_too_much_are_doubted(tmp_path: Path) -> None:
    title = "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n"
    _, said = kept(tmp_path, f"{title}4  20.00\n{title}4  0.90\n")
    assert [doubt.kind for doubt in said.doubts] == ["launches_differ"]
    assert "allreduce default at 4 B on 2 ranks: 0.9 µs and 20 µs" in said.doubts[0].text


def test_pairs_and_window_of_the_message_rate_are_part_of_the_cell(tmp_path: Path) -> None:
    campaign, _ = kept(
        tmp_path,
        RATE.format(1, 64) + "8 60.00 7500000.00\n" + RATE.format(4, 16) + "8 600.00 75000000.00\n",
        ranks=None,
    )
    cells = estimate_cells(raced_results(campaign)).sort("ranks")
    assert cells.select("ranks", "parameters", "launches").rows() == [
        (2, "pairs=1,window=64", 1),
        (8, "pairs=4,window=16", 1),
    ]


def test_fewer_ranks_than_pairs_need_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has 4 pairs, which are 8 ranks, not 2"):
        kept(tmp_path, RATE.format(4, 16) + "8 600.00 75000000.00\n", ranks=2)


def test_reductions_of_versions_that_print_no_datatype_are_of_floats(tmp_path: Path) -> None:
    allreduce = "# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n4    2.00\n"
    campaign, _ = kept(tmp_path, BCAST + allreduce)
    assert {name: campaign.header.study.datatype_of(name) for name in ("bcast", "allreduce")} == {
        "bcast": "MPI_CHAR",
        "allreduce": "MPI_FLOAT",
    }


def test_rates_are_those_that_the_file_prints(tmp_path: Path) -> None:
    campaign, said = kept(tmp_path, RATE.format(1, 64) + "16  0.05  3012.52\n4194304  2000.00  476.84\n")
    assert [1e6 / time for time in campaign.results["osu_avg_us"]] == pytest.approx([3012.52, 2e9 / 4194304])
    assert said.doubts == []


@pytest.mark.parametrize(("printed", "doubted"), [("120.00", False), ("0.05", True), ("0.1", True), ("0.100", False)])
def test_throughput_is_doubted_by_the_rounding_of_the_file(tmp_path: Path, printed: str, doubted: bool) -> None:
    _, said = kept(tmp_path, f"# OSU MPI Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n4  {printed}\n")
    assert [doubt.kind for doubt in said.doubts] == ["coarse"] * doubted


def test_output_of_timpani_show_is_refused_by_name(tmp_path: Path) -> None:
    line = "# Timpani: algorithm openmpi/chain, ranks 4, placement core, mode warm, machine here"
    title, rest = BCAST.split("\n", 1)
    with pytest.raises(UserError, match=r"log.txt:4 was printed by `timpani show --format osu`"):
        kept(tmp_path, f"{title}\n{line}\n{rest}")


def test_the_datatype_of_messages_may_follow_the_heading(tmp_path: Path) -> None:
    log = (  # the layout of `osu_bw -T all`, version 7.2
        "# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n"
        "1                      14.49\n2                      27.66\n"
        "# Datatype: MPI_INT.\n4                      55.86\n"
    )
    read = written(tmp_path, log)
    assert read.left_out == []
    assert [(table.datatype, [row.message_bytes for row in table.rows]) for table in read.tables] == [
        ("MPI_CHAR", [1, 2]),
        ("MPI_INT", [4]),
    ]


def test_each_folder_of_logs_is_a_job_with_separate_launches(tmp_path: Path) -> None:
    logs = []
    for job, times in (("monday", (0.93, 0.94)), ("tuesday", (1.03,))):
        (tmp_path / job).mkdir()
        for number, time in enumerate(times):
            logs.append(tmp_path / job / f"{number}.log")
            logs[-1].write_text(f"# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1 {time}\n")
    named = [BenchmarkLog.parse(str(log), "default") for log in logs]
    import_logs(named, tmp_path / "c", **CONDITIONS, folders_are_jobs=True)
    campaign = load(tmp_path / "c")
    assert campaign.results.select("launch", "job").rows() == [(1, "monday"), (2, "monday"), (3, "tuesday")]
    assert [each["job"] for each in campaign.jobs] == ["monday", "tuesday"]
