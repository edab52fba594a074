"""A new operation touches the files that docs/how-to/add-an-operation.md states: two are planted and measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mpi.conftest import RunPlan, one_mpi
from timpani.schedules.algorithms.verification import verify_algorithms


def test_they_are_listed(planted: Path) -> None:
    command = [sys.executable, "-c", "from timpani.cli import main; main()", "list", "operations", "--format", "json"]
    environment = os.environ | {"PYTHONPATH": str(planted / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kinds = {row["name"]: (row["kind"], row["message_bytes"]) for row in json.loads(done.stdout)}
    assert kinds["iallreduce"] == ("collective", "the whole vector")
    assert kinds["synchronous"] == ("point-to-point", "one message")


@one_mpi
def test_algorithms_for_the_collective_are_verified(planted_without_mpi: Path) -> None:
    (finding,) = verify_algorithms(planted_without_mpi, ["iallreduce/recursive_doubling"], (1, 9), (0, 9))
    assert "mistake" not in finding
    assert finding["checked"] > 0


@one_mpi
def test_operations_are_measured_on_the_data_that_their_rows_declare(planted_programs: Path, run_plan: RunPlan) -> None:
    cells = [
        "cell 0 iallreduce 64 warm - - -",
        "cell 1 iallreduce 64 warm - - recursive_doubling",
        "cell 2 synchronous 64 warm - - default",
        "cell 3 synchronous 64 warm - - default:first=1,second=0,length=2",
        "cell 4 misread 64 warm - - -",
    ]
    record = run_plan(2, cells, programs=planted_programs)
    assert [line["cell"] for line in record if "measured" in line] == [0, 1, 2, 3]
    (mistake,) = (line for line in record if "mistake" in line)
    assert mistake["cell"] == 4
    assert mistake["mistake"].startswith("wrong data: rank 0 element")
