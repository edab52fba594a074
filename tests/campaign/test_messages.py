"""Messages between ranks and transposes from the command line to the table, on real ranks."""

import csv
import io
from pathlib import Path

import pytest

from tests.campaign.live import results
from tests.cli.typed import typed
from tests.installed import each_kind, needs_mpi, needs_two_cores
from timpani.machine.nodes.locality import LOCALITIES
from timpani.native.mpi import Mpi

pytestmark = [needs_mpi, needs_two_cores]


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(typed("show", folder, "--format", "csv").stdout)))


@each_kind
def test_messages_name_their_ranks_and_how_close_those_sit(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "messages"
    done = typed(
        *("run", "latency", "bandwidth", "message_rate", "--mpi", mpi.mpirun),
        *("--sizes", "8,1Ki", "--launches", "1", "--slot", "5ms", "-o", folder),
    )
    assert done.returncode == 0, done.stderr
    assert [result["error"] for result in results(folder)] == [None] * 6
    shown = rows(folder)
    assert {row["parameters"] for row in shown} == {
        "first=0,second=1",
        "first=0,second=1,window=64",
        "pairs=1,window=64",
    }
    assert {row["locality"] for row in shown} <= set(LOCALITIES[:4])
    for row in shown:
        expected = int(row["message_bytes"]) / float(row["median_us"])
        assert float(row["throughput_mb_per_s"]) == pytest.approx(expected)


@each_kind
def test_a_study_of_messages_and_transposes_in_their_own_datatypes(mpi: Mpi, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        "ranks = [2]\nsizes = [1, 8]\nlaunches = 1\nwarmup = 2\nrepetitions = 5\n"
        "[collectives]\nlatency = 'default'\ntranspose = 'all'\nreduce_local = 'default'\n"
        "[overrides.transpose]\nsizes = [8, 512]\ndatatype = 'double'\n"
    )
    folder = tmp_path / "campaign"
    done = typed("run", study, "--mpi", mpi.mpirun, "-o", folder)
    assert done.returncode == 0, done.stderr
    found = results(folder)
    assert [result["error"] for result in found] == [None] * len(found)
    assert {result["repetitions"] for result in found} == {5}
    ways = {result["algorithm"] for result in found if result["collective"] == "transpose"}
    assert {"column_by_column", "nested_datatype", "packed", "plain_message", "alltoallv"} <= ways
    assert (
        "alltoall on 2 ranks, 8 B: the numbers of rows and columns must be multiples of the number of ranks"
        in done.stderr
    )


def test_a_small_matrix_is_shown_as_it_was_sent_and_as_it_arrived(tmp_path: Path) -> None:
    what = ("--ranks", "2", "--datatype", "int32", "--launches", "1", "--slot", "5ms", "--show-matrix")
    done = typed("run", "transpose", "--sizes", "32,64Ki", *what, "-o", tmp_path / "shown")
    assert done.returncode == 0, done.stderr
    sent, arrived, copied = done.stdout.split("transpose, 2 ranks, 32 B: the matrix that is sent")[1].split("what")[:3]
    matrix, transposed, plain = (
        [line.split() for line in text.splitlines() if line.startswith("  ")] for text in (sent, arrived, copied)
    )
    assert (len(matrix), len(matrix[0])) == (2, 4)
    assert transposed == [list(column) for column in zip(*matrix, strict=True)]
    assert plain == matrix
    assert "arrived by column_by_column, nested_datatype, packed, local_copy, alltoall, alltoallv" in arrived
    assert "arrived by plain_message, local_memcpy" in copied
    refused = typed("run", "transpose", "--sizes", "64Ki", *what, "-o", tmp_path / "large")
    assert refused.returncode == 2
    assert "only matrices of at most 64 elements are shown" in refused.stderr
    assert not (tmp_path / "large").exists()
