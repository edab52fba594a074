"""Schedules as GOAL text: what LogGOPSim reads from it is what our clock runs."""

import re
from collections import Counter
from dataclasses import dataclass, field

import polars as pl
import pytest

from timpani.errors import UserError
from timpani.schedules.algorithms.simulation import EqualNodes, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

_MESSAGE = re.compile(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)")
_CALC = re.compile(r"l(\d+): calc (\d+)")
_ORDER = re.compile(r"l(\d+) (i?requires) l(\d+)")


@dataclass
class Goal:
    """What the text says, messages as (sender, receiver, tag, bytes) and local steps as (rank, bytes)."""

    ranks: int
    sent: Counter[tuple[int, int, int, int]] = field(default_factory=Counter)
    received: Counter[tuple[int, int, int, int]] = field(default_factory=Counter)
    local: Counter[tuple[int, int]] = field(default_factory=Counter)
    orders: list[tuple[int, int, str, int]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> "Goal":
        first, *blocks = text.split("\n\n")
        goal = cls(int(first.removeprefix("num_ranks ")))
        for rank, block in enumerate(blocks):
            head, *lines, end = block.rstrip("\n").split("\n")
            assert (head, end) == (f"rank {rank} {{", "}")
            for line in lines:
                goal._add(rank, line)
        assert len(blocks) == goal.ranks
        return goal

    def _add(self, rank: int, line: str) -> None:
        if found := _MESSAGE.fullmatch(line):
            _, kind, size, peer, tag = found.groups()
            if kind == "send":
                self.sent[rank, int(peer), int(tag), int(size)] += 1
            else:
                self.received[int(peer), rank, int(tag), int(size)] += 1
        elif found := _CALC.fullmatch(line):
            self.local[rank, int(found[2])] += 1
        else:
            order = _ORDER.fullmatch(line)
            assert order, line
            self.orders.append((rank, int(order[1]), order[2], int(order[3])))


def _goal(simulator: Simulator, call: SimulatedCall) -> Goal:
    return Goal.read(b"".join(simulator.goal(call)).decode())


@pytest.mark.parametrize(
    "call",
    [
        SimulatedCall("bcast", Algorithm(OWN, "binomial"), 7, 8, root=2),
        SimulatedCall("bcast", Algorithm(OWN, "pipeline", (("segment_bytes", 64),)), 4, 1000),
        SimulatedCall("allreduce", Algorithm(OWN, "rabenseifner"), 6, 100, element_bytes=8),
        SimulatedCall("alltoall", Algorithm(OWN, "linear"), 24, 5),
        SimulatedCall("barrier", Algorithm(OWN, "dissemination"), 5, 0),
        SimulatedCall("bcast", Algorithm(OWN, "two_level"), 6, 8, places=EqualNodes(3)),
    ],
    ids=str,
)
def test_goal_text_has_the_simulated_messages_and_local_steps(simulator: Simulator, call: SimulatedCall) -> None:
    goal = _goal(simulator, call)
    (events,) = simulator.events([call])
    sends = events.filter(kind="send").with_columns(pl.col("bytes").clip(lower_bound=1))
    assert goal.ranks == call.ranks
    assert goal.sent == goal.received
    assert set(goal.sent.values()) == {1}
    assert Counter((sender, receiver, size) for sender, receiver, _, size in goal.sent) == Counter(
        sends.select("rank", "peer", "bytes").iter_rows()
    )
    local = events.filter(pl.col("kind").is_in(["copy", "reduce"]))
    assert goal.local == Counter(local.select("rank", "bytes").iter_rows())


def test_a_step_depends_on_the_previous_step_and_on_steps_with_common_data(simulator: Simulator) -> None:
    """A part is sent while another is received, which is reduced once it is there."""
    goal = _goal(simulator, SimulatedCall("allreduce", Algorithm(OWN, "ring"), 3, 3))
    of_first = [(later, how, earlier) for rank, later, how, earlier in goal.orders if rank == 0]
    assert of_first[:4] == [(2, "irequires", 1), (3, "irequires", 2), (3, "requires", 1), (4, "requires", 3)]
    assert {later for later, _, _ in of_first} == set(range(2, max(later for later, _, _ in of_first) + 1))
    assert all(later > earlier for later, _, earlier in of_first)


def test_an_inapplicable_algorithm_is_refused(simulator: Simulator) -> None:
    with pytest.raises(UserError, match="applies only where: even"):
        list(simulator.goal(SimulatedCall("allgather", Algorithm(OWN, "neighbor_exchange"), 3, 8)))
