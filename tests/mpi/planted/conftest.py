"""Additions planted into a copy of our sources, which is built once for the tests of all of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import timpani
from tests.builds import build_planted, build_planted_without_mpi
from timpani.native.mpi import Mpi
from timpani.native.sources import sources

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs" / "how-to" / "add-an-operation.md"
HOW_TO_DECLARE = ROOT / "docs" / "how-to" / "add-a-study-key.md"
PAGES = ("columns.md", "commands.md", "study-files.md", "campaign-folder.md", "python-api.md")
TABLE = "native/collectives/operations.def"
CALLS = "native/operations/collective/library_calls.def"

COLLECTIVE_ROW = """\
COLLECTIVE(iallreduce, "Non-blocking allreduce", "the whole vector", all, vector, all, vector, sum, equal)
"""
MISREAD_ROW = """\
COLLECTIVE(misread, "Allreduce taken for a scan", "the whole vector", all, vector, all, vector, prefix, equal)
"""
CALL = """\
int {name}(const Arguments& a, void* send, void* receive) {{
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = FORM(Iallreduce)(send, receive, a.count, a.type, a.op, a.comm, &request);
    return error | MPI_Wait(&request, MPI_STATUS_IGNORE);
}}
"""
OPERATION_ROWS = """\
OPERATION(synchronous, point_to_point, "Train of synchronous messages", "one message", counted, time, 2,
          (first, second, length))
PARAMETER(length, 3, 1, "messages, of which each is waited for")
"""
OPERATION_FILE = """\
// Messages that each end only when their receiver has started to receive them, and an answer.

#include "operations/messages/exchange.hpp"

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

ALGORITHM_FILE = """
// Broadcast along a chain of all ranks, in ring order. It starts `start` ranks after the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani::bcast_late_chain {
namespace {

constexpr std::array<std::int64_t, 3> kTrialStarts{1, 2, 5};

std::int64_t rounds(const CollectiveArguments& args) { return args.ranks - 1; }

/// The rank that comes after `hops` messages, counted from the root.
int reached(const CollectiveArguments& args, std::int64_t hops) {
    const auto others = args.ranks - 1;
    return hops == 0 ? 0 : static_cast<int>(1 + (args.parameters[0] - 1 + hops - 1) % others);
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int sender = absolute_rank(args, reached(args, k));
    const int receiver = absolute_rank(args, reached(args, k + 1));
    const Region whole{data_of(args, rank), 0, args.count};
    if (rank == sender) steps.send(receiver, whole);
    if (rank == receiver) steps.receive(sender, whole);
}

const Register entry{{
    .collective = "bcast",
    .name = "late_chain",
    .source = "a test",
    .cost = "(p−1) (α + βm)",
    .restrictions = {},
    .parameters = {{"start", 1, 1, "where the chain begins, counted from the root", kTrialStarts}},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = rounds,
               .max_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .max_neighbors = [](const CollectiveArguments& args) -> std::int64_t {
                   return std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_late_chain
"""

OTHER_FILES = ("bcast_binomial.cpp",)
"""Algorithms that the planted one is distinguished from; without the others the programs build in no time."""
STUDY_KEY_ROW = """\
    extra_calls: values.Natural = key(
        0,
        f"a whole number from 0 to {LARGEST}",
        "calls of each cell before any other",
        Option(HOW_WELL, "Calls of each cell before any other.", "0", int),
    )
"""
PLAN_KEY_ROW = """\
PLAN_KEY(extra_calls, int, 0, "calls of each cell before any other")
"""
EXTRA_CALLS = """\
        for (int left = plan_.extra_calls; left > 0; --left) (*operation)(buffers_.send(), buffers_.receive());
"""
RECORDED_FIELD_ROW = """\
    settling_calls: Annotated[
        Count, Recorded("settling calls of all bursts", Summary("sum", "settling calls in all launches"), copied=True)
    ] = 0
"""
SETTLING_CALLS = """\
    record.add("settling_calls", static_cast<int>(samples.settling.size()));
"""


def stated(heading: str, how_to: Path = HOW_TO) -> set[str]:
    """The files in the heading of the how-to that begins so."""
    (line,) = (line for line in how_to.read_text().splitlines() if line.startswith(f"## {heading}"))
    return set(re.findall(r"`([^`]+)`", line))


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def insert(file: Path, text: str, before: str) -> None:
    whole = file.read_text()
    assert whole.count(before) == 1
    file.write_text(whole.replace(before, text + before))


def plant_collective(root: Path, row: str, name: str) -> None:
    insert(root / TABLE, row, "COLLECTIVE(barrier,")
    insert(root / CALLS, CALL.format(name=name), "constexpr std::array all{")


def plant_operation(root: Path) -> None:
    insert(root / TABLE, OPERATION_ROWS, "OPERATION(setup,")
    (root / "native/operations/synchronous.cpp").write_text(OPERATION_FILE)


def run_planted(root: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python on the planted sources, `text` on its standard input."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, input=text, capture_output=True, text=True, check=False)


def write_tables(root: Path) -> None:
    done = run_planted(root, "-m", "tools.tables", str(root))
    assert done.returncode == 0, done.stdout + done.stderr


def plant_study_key(root: Path) -> None:
    insert(root / "src/timpani/study/keys.py", STUDY_KEY_ROW, "    probe: bool = key(")
    insert(root / "src/timpani/study/keys.py", "    extra_calls: int\n", "    probe: bool\n")
    insert(root / "native/measure/files/plan_keys.def", PLAN_KEY_ROW, "PLAN_KEY(probe,")
    insert(root / "native/measure/launch/launch.cpp", EXTRA_CALLS, "        if (plan_.by_rules) rules_not_followed(")
    write_tables(root)


def plant_recorded_field(root: Path) -> None:
    insert(root / "src/timpani/campaign/folder/launch_result.py", RECORDED_FIELD_ROW, "    interleaving: Annotated[")
    insert(root / "native/measure/cell/samples.cpp", SETTLING_CALLS, "    return record.add(")
    write_tables(root)


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our sources with what is planted; of our algorithms few, one of them made one of the planted collective."""
    root = tmp_path_factory.mktemp("planted")
    shutil.copytree(sources(), root / "native", ignore=shutil.ignore_patterns("algorithms"))
    # An installed package has the native sources in its folder `sources`, which would be used in place of the planted.
    ignored = shutil.ignore_patterns("__pycache__", "sources")
    shutil.copytree(Path(timpani.__file__).parent, root / "src" / "timpani", ignore=ignored)
    for page in PAGES:
        (root / "docs").mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / page, root / "docs")
    for folder in ("decisions", "how-to"):
        shutil.copytree(ROOT / "docs" / folder, root / "docs" / folder)
    algorithms = root / "native" / "algorithms"
    algorithms.mkdir()
    for name in OTHER_FILES:
        shutil.copy(sources() / "algorithms" / name, algorithms)
    allreduce = (sources() / "algorithms" / "allreduce_recursive_doubling.cpp").read_text()
    (algorithms / "iallreduce_recursive_doubling.cpp").write_text(
        allreduce.replace('.collective = "allreduce"', '.collective = "iallreduce"')
    )
    original = files(root)
    plant_collective(root, COLLECTIVE_ROW, "iallreduce")
    with_collective = files(root)
    assert changed(original, with_collective) == stated("A collective, to be measured")
    plant_operation(root)
    assert changed(with_collective, files(root)) == {
        name.replace("NAME", "synchronous") for name in stated("Anything else that ranks do")
    }
    without = files(root)
    plant_study_key(root)
    with_key = files(root)
    assert changed(without, with_key) == stated("A study key", HOW_TO_DECLARE)
    plant_recorded_field(root)
    assert changed(with_key, files(root)) == stated("A recorded field", HOW_TO_DECLARE)
    plant_collective(root, MISREAD_ROW, "misread")
    (algorithms / "bcast_late_chain.cpp").write_text(ALGORITHM_FILE)
    return root


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.fixture(scope="session")
def programs(mpi: Mpi, planted: Path) -> Path:
    """The folder with the measuring program built from the planted sources."""
    return build_planted(mpi, planted / "native")


@pytest.fixture(scope="session")
def programs_without_mpi(mpi: Mpi, planted: Path) -> Path:
    """The folder with the verifier and the simulator built from the planted sources."""
    return build_planted_without_mpi(mpi, planted / "native")
