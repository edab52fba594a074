"""What is planted into a copy of our sources: two operations, an algorithm, a study key and a recorded field."""

import shutil
from pathlib import Path

from timpani.native_sources import sources

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

TABLE = "native/collectives/operations.def"
CALLS = "native/operations/collective/library_calls.def"
ALGORITHMS = "native/algorithms"

Insertion = tuple[str, str, str]
"""A file, a text, and the text of the file that it comes before; a new file where that is empty."""


def _collective(row: str, name: str) -> tuple[Insertion, ...]:
    return (
        (TABLE, row, "COLLECTIVE(barrier,"),
        (CALLS, CALL.format(name=name), "constexpr std::array all{"),
    )


PLANTS: dict[str, tuple[Insertion, ...]] = {
    "collective": _collective(COLLECTIVE_ROW, "iallreduce"),
    "operation": (
        (TABLE, OPERATION_ROWS, "OPERATION(setup,"),
        ("native/operations/synchronous.cpp", OPERATION_FILE, ""),
    ),
    "study key": (
        ("src/timpani/study/keys.py", STUDY_KEY_ROW, "    probe: bool = key("),
        ("src/timpani/study/keys.py", "    extra_calls: int\n", "    probe: bool\n"),
        ("native/measure/files/plan_keys.def", PLAN_KEY_ROW, "PLAN_KEY(probe,"),
        ("native/measure/launch/launch.cpp", EXTRA_CALLS, "        if (plan_.by_rules) rules_not_followed("),
    ),
    "recorded field": (
        ("src/timpani/campaign/folder/launch_result.py", RECORDED_FIELD_ROW, "    interleaving: Annotated["),
        ("native/measure/cell/samples.cpp", SETTLING_CALLS, "    return record.add("),
    ),
    "misread collective": _collective(MISREAD_ROW, "misread"),
    "algorithm": ((f"{ALGORITHMS}/bcast_late_chain.cpp", ALGORITHM_FILE, ""),),
}


def copy_native(root: Path) -> None:
    """The native sources with few algorithms, one of them made one of the planted collective."""
    shutil.copytree(sources(), root / "native", ignore=shutil.ignore_patterns("algorithms"))
    (root / ALGORITHMS).mkdir()
    for name in OTHER_FILES:
        shutil.copy(sources() / "algorithms" / name, root / ALGORITHMS)
    allreduce = (sources() / "algorithms" / "allreduce_recursive_doubling.cpp").read_text()
    (root / ALGORITHMS / "iallreduce_recursive_doubling.cpp").write_text(
        allreduce.replace('.collective = "allreduce"', '.collective = "iallreduce"')
    )


def plant(root: Path, name: str, below: str = "") -> None:
    """Insert what PLANTS has under this name, into the files below a folder of `root`."""
    for file, text, before in PLANTS[name]:
        if file.startswith(below):
            whole = (root / file).read_text() if before else ""
            assert whole.count(before) == 1
            (root / file).write_text(whole.replace(before, text + before))


def plant_native(root: Path) -> None:
    """All that is planted into the native sources, which are the same then as those of the fixture `planted`."""
    copy_native(root)
    for name in PLANTS:
        plant(root, name, "native/")
