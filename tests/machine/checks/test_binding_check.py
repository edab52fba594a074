"""Are ranks that ran elsewhere noticed, and only those?"""

from typing import Any

from timpani.machine.doctor import check_binding
from timpani.machine.nodes.host_list import RankBinding


def ran(*places: tuple[str, list[int], list[int]]) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "host": host, "cores": cores, "sockets": sockets}
        for rank, (host, cores, sockets) in enumerate(places)
    ]


BY_NODE = [RankBinding("n1", None, 0), RankBinding("n2", None, 0), RankBinding("n1", None, 1)]
BY_SOCKET = [RankBinding("n1", 0, 0), RankBinding("n1", 1, 0), RankBinding("n1", 0, 1)]


def test_ranks_as_asked() -> None:
    found = ran(("n1.local", [4], [0]), ("n2.local", [4], [0]), ("n1.local", [5], [0]))
    assert check_binding(BY_NODE, found, True) is None


def test_a_rank_on_another_host_is_shown_with_both_maps() -> None:
    found = check_binding(BY_NODE, ran(("n1", [0], [0]), ("n1", [1], [0]), ("n2", [0], [0])), True)
    assert found == "requested n1: 0,2, n2: 1; ran n1: 0-1, n2: 2"


def test_ranks_that_share_a_core_are_noticed_where_each_was_to_have_one() -> None:
    shared = ran(("n1", [0, 1], [0]), ("n2", [0, 1], [0]), ("n1", [0, 1], [0]))
    assert check_binding(BY_NODE, shared, own_cores=True) == (
        "requested a separate core for each rank of n1; ran rank 0 on 0-1; rank 2 on 0-1"
    )
    assert check_binding(BY_NODE, shared, own_cores=False) is None


def test_sockets_are_distinguished_whatever_their_numbers() -> None:
    assert check_binding(BY_SOCKET, ran(("n1", [0], [1]), ("n1", [12], [0]), ("n1", [1], [1])), True) is None
    assert check_binding(BY_SOCKET, ran(("n1", [0], [36]), ("n1", [12], [3]), ("n1", [1], [36])), True) is None


def test_ranks_on_one_socket_that_were_to_be_on_two() -> None:
    found = check_binding(BY_SOCKET, ran(("n1", [0], [0]), ("n1", [1], [0]), ("n1", [2], [0])), True)
    assert found == "requested ranks of n1 on sockets 0,2 | 1; ran 0-2"


def test_unknown_sockets_are_not_judged() -> None:
    assert check_binding(BY_SOCKET, ran(("n1", [0], [-1]), ("n1", [1], [-1]), ("n1", [2], [-1])), True) is None
    assert check_binding(BY_NODE, ran(("n1", [0], [0]), ("n2", [0], [0]), ("n1", [1], [1])), True) is None
