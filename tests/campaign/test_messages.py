"""Messages between ranks and transposes from the command line to the table, on real ranks."""

import csv
import io
from pathlib import Path

import pytest

from tests.campaign.live import results
from tests.cli.typed import typed
from tests.installed import every_mpi, needs_mpi, needs_two_cores
from timpani.machine.nodes.locality import LOCALITIES
from timpani.native.mpi import Mpi

pytestmark = [needs_mpi, needs_two_cores]


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(typed("show", folder, "--format", "csv").stdout)))


@every_mpi
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


@every_mpi
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
