"""An algorithm with a parameter that no other has is one file: planted, it is listed, verified and recognised."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from timpani.native.build import tool
from timpani.native.sources import sources
from timpani.providers.own import read_own_catalogue
from timpani.providers.verification import verify_algorithms
from timpani.schedules.fingerprint import Fingerprints, Match, matrices
from timpani.schedules.simulation import Call, Simulator
from timpani.study.cell import OWN, Algorithm

PLANTED = """
// Broadcast along a chain of all ranks that begins `start` ranks after the root and goes on round the ring.

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
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   return std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_late_chain
"""

BESIDE = ("bcast_binomial.cpp", "bcast_pipeline.cpp")
"""Algorithms of ours that the planted one is told apart from; without the others the programs build in no time."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs that need no MPI, built from our sources and the planted file."""
    folder = tmp_path_factory.mktemp("planted")
    native = folder / "native"
    shutil.copytree(sources(), native, ignore=shutil.ignore_patterns("algorithms"))
    (native / "algorithms").mkdir()
    for name in BESIDE:
        shutil.copy(sources() / "algorithms" / name, native / "algorithms")
    (native / "algorithms" / "bcast_late_chain.cpp").write_text(PLANTED)
    # Paths relative to the folder, so that ccache knows the files again in the next run's.
    environment = os.environ | {"LC_ALL": "C", "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    for command in (
        [
            str(tool("cmake")),
            "-S",
            str(native),
            "-B",
            str(folder / "build"),
            "-G",
            "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            "-DCMAKE_BUILD_TYPE=Debug",
        ],
        [str(tool("ninja")), "-C", str(folder / "build"), "timpani-verify", "timpani-simulate"],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build"


def test_it_is_listed_with_its_parameter(programs: Path) -> None:
    own = read_own_catalogue(programs)
    assert [info.name for info in own.algorithms["bcast"]] == ["binomial", "late_chain", "pipeline"]
    (start,) = own.algorithms["bcast"][1].parameters
    assert (start.name, start.default, start.minimum, start.trial_values) == ("start", 1, 1, (1, 2, 5))


def test_it_is_verified_at_its_trial_values(programs: Path) -> None:
    one, *_ = verify_algorithms(programs, ["bcast/binomial"], (8, 8), (3, 3))
    planted, *_ = verify_algorithms(programs, ["bcast/late_chain"], (8, 8), (3, 3))
    assert "mistake" not in planted
    assert planted["checked"] == one["checked"] * len({1, 2, 3, 5, 7})


@pytest.mark.parametrize("start", [1, 2, 5])
def test_it_is_recognised_by_its_messages(programs: Path, start: int) -> None:
    simulator = Simulator(programs)
    algorithm = Algorithm.parse(f"{OWN}/late_chain:start={start}")
    messages, sent_bytes = matrices(simulator.events([Call("bcast", algorithm, 8, 1000)])[0], 8)
    proof = {"collective": "bcast", "ranks": 8, "message_bytes": 1000, "messages": messages, "bytes": sent_bytes}
    found = Fingerprints(simulator, read_own_catalogue(programs)).name(proof, 1)
    assert found.match is Match.messages
    as_pipeline = (Algorithm(OWN, "pipeline"),) if start == 1 else ()
    assert found.algorithms == (algorithm, *as_pipeline)
