"""Files of PICO become a campaign, with the collective and the ranks from its metadata."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.typed import typed
from timpani.campaign.folder.load import load
from timpani.errors import UserError
from timpani.imports.log_import import read_log

METADATA = """\
timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,libbine_version,gpu_awareness,gpu_lib,\
gpu_lib_version,output_level,MPI_Op,notes
2025_03_16___14_58_59,0,2,2,ALLREDUCE,OMPI,4.1.6,1.0.0,no,null,null,summarized,MPI_SUM,null
2025_03_16___14_58_59,1,2,2,SCATTER,OMPI,4.1.6,1.0.0,yes,null,null,all,null,"several, words"
"""
TIMES = (9000, 2100, 2000, 1900, 2050, 2000)


def results(folder: Path, test: int = 0, name: str = "512_ring_over_int32.csv", ranks: int = 0) -> Path:
    """PICO's folder with one file; `ranks` of each of which there is a column."""
    (folder / "desk_metadata.csv").write_text(METADATA)
    file = folder / "desk" / "2025_03_16___14_58_59" / str(test) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    heading = "".join(f",rank{rank}" for rank in range(ranks))
    file.write_text(f"highest{heading}\n" + "".join(f"{time}{f',{time}' * ranks}\n" for time in TIMES))
    return file


def test_a_file_becomes_one_cell(tmp_path: Path) -> None:
    done = typed("import", results(tmp_path), "-o", tmp_path / "c", "--machine", "desk")
    assert (done.returncode, done.stderr) == (0, "")
    [row] = load(tmp_path / "c").results.iter_rows(named=True)
    assert (row["collective"], row["algorithm"], row["ranks"], row["message_bytes"]) == (
        "allreduce",
        "ring_over",
        4,
        2048,
    )
    assert (row["median_us"], row["ci_low_us"], row["ci_high_us"]) == pytest.approx((2.025, 1.9, 9.0))
    assert (row["repetitions"], row["mode"]) == (6, "warm, longest time of a rank, started by MPI_Barrier")
    assert load(tmp_path / "c").header.study.datatype == "MPI_INT32_T"


def test_blocks_segments_and_buffers_are_read(tmp_path: Path) -> None:
    [table] = read_log(results(tmp_path, 1, "1024_linear_ompi_4096_double.csv", ranks=4)).tables
    assert (table.collective, table.ranks, table.algorithm) == ("scatter", 4, "linear_ompi:segment_bytes=4096")
    assert table.rows[0].message_bytes == 1024 // 4 * 8
    assert table.protocol.endswith("buffers on a GPU")


def test_lines_of_many_ranks_are_read(tmp_path: Path) -> None:
    [table] = read_log(results(tmp_path, ranks=1000)).tables
    assert (table.ranks, len(table.rows[0].times_us)) == (1000, len(TIMES))


def test_files_of_one_test_are_one_campaign_and_names_can_be_typed(tmp_path: Path) -> None:
    files = [results(tmp_path, name=f"{count}_ring_over_int32.csv") for count in (2, 4)]
    assert typed("import", *files, "-o", tmp_path / "c").returncode == 0
    assert load(tmp_path / "c").results["message_bytes"].to_list() == [8, 16]
    typed_name = typed("import", f"mine={files[0]}", "--any-name", "-o", tmp_path / "d")
    assert typed_name.returncode == 0, typed_name.stderr
    assert load(tmp_path / "d").results["algorithm"].to_list() == ["mine"]


def described(metadata: str) -> Callable[[Path], Path]:
    def describe(file: Path) -> Path:
        file.parents[3].joinpath("desk_metadata.csv").write_text(metadata)
        return file

    return describe


def no_metadata(file: Path) -> Path:
    file.parents[3].joinpath("desk_metadata.csv").unlink()
    return file


def no_times(file: Path) -> Path:
    file.write_text("highest\n")
    return file


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (no_metadata, "which names its collective"),
        (described(METADATA.splitlines()[0]), "has no row in"),
        (described(METADATA.replace("59,0,2,2", "59,0,two,2")), "has an incomplete row in"),
        (described(METADATA.replace("ALLREDUCE", "WHATEVER")), "is of 'whatever', no collective"),
        (lambda file: file.rename(file.with_name("times.csv")), "is not named COUNT_ALGORITHM_TYPE.csv"),
        (no_times, "has no row under it"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_in_one_line(
    tmp_path: Path, change: Callable[[Path], Path], why: str
) -> None:
    file = change(results(tmp_path))
    refused = typed("import", file, "-o", tmp_path / "c")
    assert (refused.returncode, refused.stderr.count("\n"), (tmp_path / "c").exists()) == (2, 1, False)
    assert f"{file}:1 " in refused.stderr
    assert why in refused.stderr


@pytest.mark.parametrize("row", ["12,13", "-5", "1e3", "nan", "2100 2000"])
def test_a_torn_row_is_refused_with_its_line(tmp_path: Path, row: str) -> None:
    file = results(tmp_path)
    file.write_text(f"highest\n2100\n{row}\n")
    with pytest.raises(UserError, match=":3 is incomplete"):
        read_log(file)


def test_a_number_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    """21 is the beginning of 2100."""
    file = results(tmp_path)
    file.write_text("highest\n2000\n21")
    with pytest.raises(UserError, match=":3 is cut off"):
        read_log(file)


@pytest.mark.parametrize(
    ("old", "new"), [(",2,2,ALLREDUCE", ",0,2,ALLREDUCE"), ("OMPI,4.1.6,1.0.0,no", "OM\rPI,4.1.6,1.0.0,no")]
)
def test_metadata_with_no_nodes_or_a_broken_line_are_refused_in_one_line(tmp_path: Path, old: str, new: str) -> None:
    file = results(tmp_path)
    (tmp_path / "desk_metadata.csv").write_bytes(METADATA.replace(old, new, 1).encode())
    done = typed("import", file, "-o", tmp_path / "c")
    assert done.returncode == 2
    assert "desk_metadata.csv" in done.stderr
    assert "Traceback" not in done.stderr
