"""An algorithm with a parameter that no other has is one file: planted, it is listed, verified and recognized."""

from pathlib import Path

import pytest

from tests.mpi.conftest import one_mpi
from timpani.schedules.algorithms.fingerprint import Fingerprints, Match, matrices
from timpani.schedules.algorithms.simulation import SimulatedCall, Simulator
from timpani.schedules.algorithms.verification import read_own_catalogue, verify_algorithms
from timpani.study.cell import OWN, Algorithm

pytestmark = one_mpi


def test_it_is_listed_with_its_parameter(planted_without_mpi: Path) -> None:
    own = read_own_catalogue(planted_without_mpi)
    assert [info.name for info in own.algorithms["bcast"]] == ["binomial", "late_chain"]
    (start,) = own.algorithms["bcast"][1].parameters
    assert (start.name, start.default, start.minimum, start.trial_values) == ("start", 1, 1, (1, 2, 5))


def test_it_is_verified_at_its_trial_values(planted_without_mpi: Path) -> None:
    one, *_ = verify_algorithms(planted_without_mpi, ["bcast/binomial"], (8, 8), (3, 3))
    planted, *_ = verify_algorithms(planted_without_mpi, ["bcast/late_chain"], (8, 8), (3, 3))
    assert "mistake" not in planted
    assert planted["checked"] == one["checked"] * len({1, 2, 3, 5, 7})


@pytest.mark.parametrize("start", [1, 2, 5])
def test_it_is_recognized_by_its_messages(planted_without_mpi: Path, start: int) -> None:
    simulator = Simulator(planted_without_mpi)
    algorithm = Algorithm.parse(f"{OWN}/late_chain:start={start}")
    messages, sent_bytes = matrices(simulator.events([SimulatedCall("bcast", algorithm, 8, 1000)])[0], 8)
    proof = {"collective": "bcast", "ranks": 8, "message_bytes": 1000, "messages": messages, "bytes": sent_bytes}
    found = Fingerprints(simulator, read_own_catalogue(planted_without_mpi)).name(proof, 1)
    assert found.match is Match.messages
    assert found.algorithms == (algorithm,)
