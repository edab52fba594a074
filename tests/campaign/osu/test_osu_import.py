from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.osu.osu_import import OsuLog, import_osu, read_osu
from timpani.campaign.read.cell_table import estimate_cells
from timpani.errors import UserError

LOGS = Path(__file__).parents[2] / "data" / "osu"


def imported(folder: Path, *names: str, **options: Any) -> Campaign:
    told: dict[str, Any] = {"ranks": 4, "machine": "old", "datatype": None, "command": "import"}
    algorithm = options.pop("algorithm", "default")
    import_osu([OsuLog.parse(str(LOGS / name), algorithm) for name in names], folder, **told | options)
    return load(folder)


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
    (table,) = read_osu(LOGS / name)
    assert (table.collective, len(table.rows)) == (collective, rows)
    assert (table.rows[0].message_bytes, table.rows[0].average_us) == first


@pytest.mark.parametrize("name", ["bcast-7.4-full.txt", "barrier-7.4-full.txt", "alltoall-7.5-percentiles.txt"])
def test_full_columns_are_taken_by_their_names(name: str) -> None:
    row = read_osu(LOGS / name)[0].rows[0]
    assert row.lowest_us is not None
    assert row.highest_us is not None
    assert row.lowest_us < row.average_us < row.highest_us
    assert row.iterations == 1000


def test_each_datatype_starts_anew() -> None:
    tables = read_osu(LOGS / "reduce-7.5-two-datatypes.txt")
    assert [table.datatype for table in tables] == ["MPI_INT", "MPI_FLOAT"]
    assert [table.rows[0].average_us for table in tables] == [0.93, 1.86]


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
    cell = estimate_cells(campaign.results).filter(collective="bcast", message_bytes=65536).row(0, named=True)
    assert cell["osu_avg_us"] == pytest.approx((8.21 + 9.03) / 2)
    assert (cell["launches"], cell["median_us"]) == (2, None)


def test_runs_appended_to_one_file_are_launches_too(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text((LOGS / "barrier-7.4.txt").read_text() * 3)
    assert imported(tmp_path / "old", str(log)).results["launch"].to_list() == [1, 2, 3]


def test_a_failed_validation_is_a_failed_result(tmp_path: Path) -> None:
    cells = estimate_cells(imported(tmp_path / "old", "scatter-7.5-validated.txt").results)
    failed = cells.filter(status="failed").row(0, named=True)
    assert (failed["message_bytes"], failed["osu_avg_us"]) == (8, None)
    assert "scatter-7.5-validated.txt:8" in failed["error"]


def test_one_of_several_datatypes_must_be_chosen(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MPI_FLOAT and MPI_INT; choose one with --datatype"):
        imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt")
    with pytest.raises(UserError, match="MPI_FLOAT"):
        imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt", datatype="MPI_FLAOT")
    campaign = imported(tmp_path / "old", "reduce-7.5-two-datatypes.txt", datatype="MPI_FLOAT")
    assert campaign.results["osu_avg_us"].min() == 1.86
    assert campaign.header.study.datatype == "MPI_FLOAT"
    assert "MPI_INT" in campaign.header.left_out[0]


def test_benchmarks_of_other_things_are_refused_with_their_line() -> None:
    with pytest.raises(UserError, match=r"ibcast-7.4.txt:[12] is of OSU's Non-blocking Broadcast Latency test"):
        read_osu(LOGS / "ibcast-7.4.txt")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("nothing of OSU's\n", ":1 is not OSU output"),
        ("\x00\x01\xff", ":1 is not OSU output"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n", ":1 is not OSU output"),
        ("# Size       Avg Latency(us)\n1    2.0\n", ":1 has a table without its"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    2.0\n1024\n", ":4 is incomplete"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    nan\n", ":3 is incomplete"),
        ("# OSU MPI Broadcast Latency Test v7.4\n# Size       Bandwidth (MB/s)\n1    2.0\n", ":2 has no column of"),
        ("# OSU MPI Bandwidth Test v7.4\n# Size       Bandwidth (MB/s)\n1    0.0\n", ":3 says that nothing was moved"),
    ],
)
def test_what_is_no_osu_output_is_named_with_its_line(tmp_path: Path, text: str, where: str) -> None:
    log = tmp_path / "log.txt"
    log.write_text(text, errors="surrogateescape")
    with pytest.raises(UserError) as error:
        read_osu(log)
    assert f"{log}{where}" in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read_osu(tmp_path / "missing")


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        imported(tmp_path, "bcast-5.6.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_unreadable_file_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        imported(tmp_path / "old", "bcast-5.6.txt", "missing.txt")
    assert not (tmp_path / "old").exists()


def test_each_file_may_have_an_algorithm_of_its_own(tmp_path: Path) -> None:
    first, second = LOGS / "bcast-7.4-full.txt", LOGS / "bcast-5.6.txt"
    logs = [OsuLog.parse(f"chain:fanout=4={first}", "default"), OsuLog.parse(str(second), "basic_linear")]
    told: dict[str, Any] = {"ranks": 4, "machine": "old", "datatype": "MPI_CHAR", "command": "import"}
    import_osu(logs, tmp_path / "both", **told)
    labels = set(estimate_cells(load(tmp_path / "both").results)["label"])
    assert labels == {"chain:fanout=4", "linear"}  # the canonical name


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "chain=4.log"
    path.write_text((LOGS / "bcast-5.6.txt").read_text())
    assert OsuLog.parse(str(path), "default").path == path


def test_the_same_file_twice_is_no_second_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"bcast-5\.6\.txt is named twice"):
        imported(tmp_path / "c", "bcast-5.6.txt", "../osu/bcast-5.6.txt")
    assert not (tmp_path / "c").exists()


def test_a_copy_under_another_name_is_no_second_run(tmp_path: Path) -> None:
    log = LOGS / "bcast-5.6.txt"
    (tmp_path / "chain.log").write_text("# of the chain\n" + log.read_text())
    logs = [OsuLog.parse(f"default={log}", ""), OsuLog.parse(f"chain={tmp_path / 'chain.log'}", "")]
    told: dict[str, Any] = {"ranks": 4, "machine": "old", "datatype": None, "command": "import"}
    with pytest.raises(UserError, match=r"chain\.log:\d+ repeats the table at .*bcast-5\.6\.txt:\d+; leave one out"):
        import_osu(logs, tmp_path / "c", **told)
    appended = tmp_path / "appended.log"
    appended.write_text(log.read_text() * 2)
    with pytest.raises(UserError, match=r"appended\.log:\d+ repeats the table at .*appended\.log:\d+"):
        import_osu([OsuLog.parse(str(appended), "default")], tmp_path / "c", **told)


def test_messages_between_two_ranks_need_no_rank_count(tmp_path: Path) -> None:
    assert set(imported(tmp_path / "c", "latency-5.6.txt", "bandwidth-5.6.txt", ranks=None).results["ranks"]) == {2}
    with pytest.raises(UserError, match=r"bcast-5\.6\.txt doesn't say how many ranks ran; add --ranks N"):
        imported(tmp_path / "d", "bcast-5.6.txt", ranks=None)
