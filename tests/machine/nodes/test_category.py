"""Host files of the three categories as placements."""

import pytest

from timpani.errors import UserError
from timpani.machine.nodes.host_list import capacity, choose_hosts, placement_problem, requested_places, resolve_mapping
from timpani.machine.nodes.model import Machine, NodeGroup

MACHINE = Machine(
    name="m",
    launcher="openmpi",
    groups=(NodeGroup(name="g1", nodes=("a1", "a2", "a3"), cores=4), NodeGroup(name="g2", nodes=("b1", "b2"), cores=4)),
)
HOSTS = choose_hosts(MACHINE)


def nodes(placement: str, ranks: int) -> str:
    return " ".join(place.host for place in requested_places(MACHINE, HOSTS, placement, ranks))


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ("category:1:2", "a1 a1 a2 a2 b1 b1 b2 b2"),
        ("category:2:2", "a1 a2 b1 b2 a1 a2 b1 b2"),
        ("category:3:2", "a1 b1 a2 b2 a1 b1 a2 b2"),
        ("category:3:4", "a1 b1 a1 b1 a1 b1 a1 b1"),
    ],
)
def test_groups_give_equally_many_nodes_in_the_category_s_order(placement: str, expected: str) -> None:
    assert nodes(placement, 8) == expected


def test_hosts_that_were_not_given_are_not_taken() -> None:
    hosts, placement = resolve_mapping(MACHINE, choose_hosts(MACHINE, exclude=("a1",)), "category:1:1", 4)
    assert ([host.name for host in hosts], placement) == (["a2", "a3", "b1", "b2"], "core")


def test_ranks_that_fit_no_nodes_are_reported_and_capacity_counts_all_cores() -> None:
    assert "5 nodes, not 8" in placement_problem(MACHINE, HOSTS, "category:1:1", 8)
    assert "can't be 3 on each node" in placement_problem(MACHINE, HOSTS, "category:2:3", 8)
    assert placement_problem(MACHINE, HOSTS, "category:2:2", 8) == placement_problem(MACHINE, HOSTS, "node", 99) == ""
    assert "8 ranks on a1 would share its 4 cores" in placement_problem(MACHINE, HOSTS, "category:1:8", 8)
    assert capacity(MACHINE, HOSTS, "category:1:1") == 20
    with pytest.raises(
        UserError, match="this computer is a single node; name a machine with several nodes, for example --on simgrid:"
    ):
        placement_problem(MACHINE, (), "category:1:1", 2)


def test_an_order_that_srun_does_not_keep_is_left_out() -> None:
    slurm = MACHINE.model_copy(update={"launcher": "slurm"})
    assert (
        placement_problem(slurm, HOSTS, "category:1:2", 8) == placement_problem(slurm, HOSTS, "category:2:2", 8) == ""
    )
    assert "in the order of their names" in placement_problem(slurm, HOSTS, "category:3:2", 8)
