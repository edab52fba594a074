"""Between which ranks point-to-point operations go."""

import pytest

from tests.campaign.plan.made_library import LIBRARY
from timpani.campaign.plan.from_study import Pairs, between_ranks, missing_ranks, pairs_on
from timpani.errors import UserError
from timpani.machine.nodes.host_list import choose_hosts, with_slots
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.study.cell import Algorithm


def parsed_pairs(text: str, operation: str, ranks: int, pairs: Pairs = "first") -> list[str]:
    catalogue = LIBRARY.point_to_point
    algorithm = Algorithm.parse(text)
    info = catalogue.info(operation, algorithm)
    assert info is not None
    return [str(each) for each in between_ranks(algorithm, info, ranks, pairs, lambda ranks: [(0, ranks - 1)])]


def test_every_parameter_is_spelled_out() -> None:
    assert parsed_pairs("default", "latency", 4) == ["default:first=0,second=1"]
    assert parsed_pairs("default:window=8", "bandwidth", 4) == ["default:first=0,second=1,window=8"]
    assert parsed_pairs("default", "message_rate", 6) == ["default:pairs=3,window=64"]


def test_all_pairs_are_all_of_them_once() -> None:
    assert parsed_pairs("default", "latency", 3, "all") == [
        "default:first=0,second=1",
        "default:first=0,second=2",
        "default:first=1,second=2",
    ]
    assert len(parsed_pairs("default", "bandwidth", 8, "all")) == 28


MACHINE = Machine(
    name="m",
    launcher="openmpi",
    groups=(
        NodeGroup(name="g1", nodes=("n1", "n2"), cores=4, sockets=2),
        NodeGroup(name="g2", nodes=("n3", "n4"), cores=4, sockets=2),
    ),
)


@pytest.mark.parametrize(
    ("placement", "ranks", "pairs"),
    [
        ("core", 16, [(0, 1), (0, 2), (0, 4), (0, 8)]),  # a socket, a node, a switch, and beyond it
        ("core", 6, [(0, 1), (0, 2), (0, 4)]),
        ("socket", 4, [(0, 1), (0, 2)]),
        ("node", 4, [(0, 1), (0, 2)]),
    ],
)
def test_pairs_on_a_machine_are_one_of_each_locality(placement: str, ranks: int, pairs: list[tuple[int, int]]) -> None:
    hosts = with_slots(MACHINE, choose_hosts(MACHINE))
    assert pairs_on(MACHINE, hosts, (placement,))(ranks) == pairs


def test_pairs_of_places_that_nobody_foresees() -> None:
    hosts = with_slots(MACHINE, choose_hosts(MACHINE))
    for placements, ranks in ((("core", "node"), 4), (("core",), 17)):
        with pytest.raises(UserError, match="known only with one --placement and a core for each"):
            pairs_on(MACHINE, hosts, placements)(ranks)


def test_ranks_that_are_not_there() -> None:
    assert missing_ranks(Algorithm.parse("default:first=0,second=3"), 4) == ""
    assert missing_ranks(Algorithm.parse("default:first=0,second=3"), 3) == "there is no rank 3"
    assert missing_ranks(Algorithm.parse("default:pairs=2,window=1"), 3) == "there is no rank 3"
    with pytest.raises(UserError, match="from a rank to itself"):
        missing_ranks(Algorithm.parse("default:first=2,second=2"), 4)
