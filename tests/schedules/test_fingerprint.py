"""Vendor algorithms named by their messages: as Open MPI 5.0.11 sent them on 8 ranks."""

import json
from pathlib import Path

import numpy as np
import pytest

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.algorithms import ON_TWO_RANKS
from timpani.schedules.algorithms.fingerprint import Fingerprints, Match, matrices, with_whole_messages
from timpani.schedules.algorithms.simulation import SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

PROOFS = {
    (proof["collective"], proof["algorithm"]): proof
    for proof in map(
        json.loads, (Path(__file__).parents[1] / "data/proofs/openmpi-5.0.11-8-ranks.jsonl").read_text().splitlines()
    )
}


@pytest.fixture(scope="module")
def fingerprints(simulator: Simulator, own: Catalogue) -> Fingerprints:
    return Fingerprints(simulator, own)


@pytest.mark.parametrize(
    ("collective", "algorithm", "name"),
    [
        ("bcast", "default", "knomial:radix=4"),
        ("bcast", "linear", "linear"),
        ("bcast", "chain", "chain:fanout=4"),
        ("bcast", "pipeline", "pipeline"),
        ("bcast", "binary", "binary"),
        ("bcast", "split_binary", "split_binary"),
        ("bcast", "binomial", "binomial"),
        ("bcast", "scatter_allgather", "scatter_allgather"),
        ("bcast", "scatter_allgather_ring", "scatter_allgather_ring"),
        ("reduce", "in-order_binary", "in_order_binary"),
        ("reduce", "rabenseifner", "rabenseifner"),
        ("allreduce", "default", "recursive_doubling"),
        ("allreduce", "ring", "ring"),
        ("allgather", "bruck", "bruck"),
        ("allgather", "neighbor", "neighbor_exchange"),
        ("alltoall", "bruck", "bruck:radix=2"),
        ("barrier", "bruck", "dissemination"),
        ("barrier", "tree", "tree"),
        ("scatter", "binomial", "binomial"),
    ],
)
def test_an_algorithm_of_open_mpi_is_named(
    fingerprints: Fingerprints, collective: str, algorithm: str, name: str
) -> None:
    found = fingerprints.name(PROOFS[collective, algorithm], 1)
    assert found.match is Match.messages
    assert Algorithm.parse(f"{OWN}/{name}") in found.algorithms


def test_a_matrix_that_no_schedule_sends_has_no_name(fingerprints: Fingerprints) -> None:
    found = fingerprints.name(PROOFS["barrier", "double_ring"], 1)
    assert (found.match, found.algorithms) == (None, ())


def test_segments_match_by_bytes_and_other_bytes_by_peers(fingerprints: Fingerprints, simulator: Simulator) -> None:
    call = SimulatedCall("bcast", Algorithm.parse(f"{OWN}/binary:segment_bytes=100"), 8, 1000)
    messages, sent_bytes = matrices(simulator.events([call])[0], 8)
    proof = {"collective": "bcast", "ranks": 8, "message_bytes": 1000, "messages": messages, "bytes": sent_bytes}
    assert fingerprints.name(proof, 1).match is Match.bytes
    found = fingerprints.name({**proof, "bytes": np.where(sent_bytes > 0, sent_bytes + 1, 0)}, 1)
    assert found.match is Match.peers
    assert [algorithm.name for algorithm in found.algorithms] == ["binary"]


SAME_NAMES = [
    (collective, names)
    for collective, sets in ON_TWO_RANKS.items()
    for names in sets
    if collective in ("bcast", "reduce", "scatter")
]


@pytest.mark.parametrize(("collective", "names"), SAME_NAMES)
def test_algorithms_that_coincide_on_two_ranks_have_equal_events(
    simulator: Simulator, own: Catalogue, collective: str, names: tuple[str, ...]
) -> None:
    whole = (with_whole_messages(own, collective, Algorithm(OWN, name)) for name in names)
    calls = [SimulatedCall(collective, algorithm, 2, 1024) for algorithm in whole]
    first, *others = (
        events.filter(kind="send").select("rank", "peer", "bytes", "start", "end").sort("start", "rank").rows()
        for events in simulator.events(calls)
    )
    assert first
    assert all(each == first for each in others)
