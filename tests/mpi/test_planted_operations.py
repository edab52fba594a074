"""A new operation touches the files that docs/how-to/add-an-operation.md states: two are planted and measured."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mpi.conftest import RunPlan, one_mpi
from timpani.native.build import tool
from timpani.native.find import Mpi
from timpani.native.sources import sources
from timpani.providers.verification import verify_algorithms

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to" / "add-an-operation.md"
TABLE = "native/collectives/operations.def"
CALLS = "native/operations/library_call.cpp"

COLLECTIVE_ROW = """\
COLLECTIVE(iallreduce, "Non-blocking allreduce", "the whole vector", all, vector, all, vector, sum, equal)
"""
MISREAD_ROW = """\
COLLECTIVE(misread, "Allreduce taken for a scan", "the whole vector", all, vector, all, vector, prefix, equal)
"""
CALL = """\
int {name}(const Arguments& a, void* send, void* receive) {{
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Iallreduce(send, receive, a.count, a.type, a.op, a.comm, &request);
    return error | MPI_Wait(&request, MPI_STATUS_IGNORE);
}}
"""
OPERATION_ROWS = """\
OPERATION(synchronous, point_to_point, "Train of synchronous messages", "one message", counted, time, 2,
          (first, second, length))
PARAMETER(length, 3, 1, "messages, of which each is waited for")
"""
OPERATION_FILE = """\
// Messages that each end only when their receiver has begun to take them, and an answer.

#include "operations/exchange.hpp"

namespace timpani {

namespace {

class Synchronous : public Exchange {
  public:
    explicit Synchronous(const OperationSpec& spec) : Exchange(spec), length_(spec.value_of("length")) {}

    int operator()(std::byte* send, std::byte* receive) override {
        int error = MPI_SUCCESS;
        for (std::int64_t i = 0; i < length_ && is_first(); ++i) {
            error |= MPI_Ssend(send, bytes(), MPI_BYTE, peer(), kMessageTag, comm());
        }
        for (std::int64_t i = 0; i < length_ && is_second(); ++i) error |= receive_from_peer(receive);
        if (is_second()) error |= send_to_peer(send);
        return is_first() ? error | receive_from_peer(receive) : error;
    }

  private:
    std::int64_t length_;
};

const RegisterOperation synchronous{"synchronous", "default", make<Synchronous>};

}  // namespace

}  // namespace timpani
"""


def stated(heading: str) -> set[str]:
    """The files in the heading of the how-to that begins so."""
    (line,) = (line for line in HOW_TO.read_text().splitlines() if line.startswith(f"## {heading}"))
    return set(re.findall(r"`([^`]+)`", line))


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def insert(file: Path, text: str, before: str) -> None:
    whole = file.read_text()
    assert whole.count(before) == 1
    file.write_text(whole.replace(before, text + before))


def plant_collective(root: Path, row: str, name: str) -> None:
    insert(root / TABLE, row, "COLLECTIVE(barrier,")
    insert(root / CALLS, CALL.format(name=name), "}  // namespace calls")


def plant_operation(root: Path) -> None:
    insert(root / TABLE, OPERATION_ROWS, "OPERATION(setup,")
    (root / "native/operations/synchronous.cpp").write_text(OPERATION_FILE)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our sources with the planted operations; of our algorithms one, made one of the planted collective too."""
    root = tmp_path_factory.mktemp("planted")
    shutil.copytree(sources(), root / "native", ignore=shutil.ignore_patterns("algorithms"))
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "native" / "algorithms").mkdir()
    algorithm = (sources() / "algorithms" / "allreduce_recursive_doubling.cpp").read_text()
    (root / "native/algorithms/iallreduce_recursive_doubling.cpp").write_text(
        algorithm.replace('.collective = "allreduce"', '.collective = "iallreduce"')
    )
    original = files(root)
    plant_collective(root, COLLECTIVE_ROW, "iallreduce")
    with_collective = files(root)
    assert changed(original, with_collective) == stated("A collective, to be measured")
    plant_operation(root)
    assert changed(with_collective, files(root)) == {
        name.replace("NAME", "synchronous") for name in stated("Anything else that ranks do")
    }
    plant_collective(root, MISREAD_ROW, "misread")
    return root


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.fixture(scope="module")
def programs(mpi: Mpi, planted: Path) -> Path:
    """The programs built from the planted sources."""
    build = planted / "build"
    # Paths relative to the folder, so that ccache knows the files again in the next run's.
    environment = os.environ | {"LC_ALL": "C", "CCACHE_BASEDIR": str(planted), "CCACHE_NOHASHDIR": "1"}
    options = (f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={mpi.cxx}", "-DCMAKE_BUILD_TYPE=Debug")
    for command in (
        [tool("cmake"), "-S", planted / "native", "-B", build, "-G", "Ninja", *options],
        [tool("ninja"), "-C", build, "timpani-verify", "timpani-measure"],
    ):
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return build


def test_they_are_listed(planted: Path) -> None:
    command = [sys.executable, "-c", "from timpani.cli import main; main()", "list", "operations", "--format", "json"]
    environment = os.environ | {"PYTHONPATH": str(planted / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kinds = {row["name"]: (row["kind"], row["message_bytes"]) for row in json.loads(done.stdout)}
    assert kinds["iallreduce"] == ("collective", "the whole vector")
    assert kinds["synchronous"] == ("point-to-point", "one message")


@one_mpi
def test_algorithms_for_the_collective_are_verified(programs: Path) -> None:
    (finding,) = verify_algorithms(programs, ["iallreduce/recursive_doubling"], (1, 9), (0, 9))
    assert "mistake" not in finding
    assert finding["checked"] > 0


@one_mpi
def test_they_are_measured_on_data_that_the_row_tells(programs: Path, run_plan: RunPlan) -> None:
    cells = [
        "cell 0 iallreduce 64 warm - - -",
        "cell 1 iallreduce 64 warm - - recursive_doubling",
        "cell 2 synchronous 64 warm - - default",
        "cell 3 synchronous 64 warm - - default:first=1,second=0,length=2",
        "cell 4 misread 64 warm - - -",
    ]
    record = run_plan(2, cells, programs=programs)
    assert [line["cell"] for line in record if "measured" in line] == [0, 1, 2, 3]
    (mistake,) = (line for line in record if "mistake" in line)
    assert mistake["cell"] == 4
    assert mistake["mistake"].startswith("wrong data: rank 0 element")
