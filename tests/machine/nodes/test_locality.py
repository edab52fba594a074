"""How close two ranks sit, on recorded machines."""

import pytest

from tests.machine.here.test_cores import recorded
from timpani.machine.nodes.locality import CorePlace, Domains, locality, nearest_first, pair_of_each_locality, seats
from timpani.machine.nodes.model import fold_numbers, parse_cpus


def domains(name: str) -> Domains:
    return recorded(name).domains


def between(name: str, a: str, b: str) -> str:
    return locality(CorePlace("n1", parse_cpus(a)), CorePlace("n1", parse_cpus(b)), domains(name), {})


@pytest.mark.parametrize(
    ("machine", "a", "b", "expected"),
    [
        ("epyc-2x64-smt", "0", "128", "same core"),
        ("epyc-2x64-smt", "0,128", "3,131", "same core complex"),
        ("epyc-2x64-smt", "3", "4", "same socket"),
        ("laptop-smt", "0", "1", "same core"),
        ("laptop-smt", "0", "2", "same socket"),  # recorded without its caches
        ("arm-no-sockets", "0", "1", "same node"),  # … and without sockets
        ("epyc-2x64-smt", "0", "500", "same node"),  # a CPU that the description doesn't have
    ],
)
def test_ranks_share_the_smallest_part_that_holds_both(machine: str, a: str, b: str, expected: str) -> None:
    assert between(machine, a, b) == between(machine, b, a) == expected


def test_ranks_that_are_not_bound_share_no_more_than_their_masks() -> None:
    assert between("epyc-2x64-smt", "0-63", "0-63") == "same socket"
    assert between("epyc-2x64-smt", "0-127", "0-127") == "same node"
    assert between("vm-2", "", "") == "same node"


def test_a_rank_sits_on_a_socket_and_a_cache_where_every_rank_is_bound_to_one() -> None:
    def seated(name: str, *cpus: str) -> list[tuple[int | None, int | None]]:
        found = seats([CorePlace("n1", parse_cpus(each)) for each in cpus], {"n1": domains(name)})
        return [(each.socket, each.cache) for each in found]

    (socket, cache), near, far, other = seated("epyc-2x64-smt", "0", "3", "4", "64")
    assert near == (socket, cache)
    assert far[0] == socket != other[0]
    assert len({cache, far[1], other[1]}) == 3
    assert seated("epyc-2x64-smt", "0-63", "1") == [(socket, None)] * 2
    assert seated("epyc-2x64-smt", "0-127", "1") == [(None, None)] * 2
    assert seated("arm-no-sockets", "0", "1") == [(None, None)] * 2


def test_switches_are_known_only_if_both_nodes_name_theirs() -> None:
    a, b = CorePlace("n1", frozenset({0})), CorePlace("n2", frozenset({0}))
    assert locality(a, b, domains("vm-2"), {}) == "different nodes"
    assert locality(a, b, domains("vm-2"), {"n1": "s1"}) == "different nodes"
    assert locality(a, b, domains("vm-2"), {"n1": "s1", "n2": "s1"}) == "same switch"
    assert locality(a, b, domains("vm-2"), {"n1": "s1", "n2": "s2"}) == "different switch"


@pytest.mark.parametrize(
    ("machine", "pairs"),
    [("epyc-2x64-smt", [(0, 1), (0, 4), (0, 64)]), ("xeon-2x12", [(0, 1), (0, 12)]), ("vm-2", [(0, 1)])],
)
def test_one_pair_of_each_locality_that_occurs(machine: str, pairs: list[tuple[int, int]]) -> None:
    parts = domains(machine)
    places = [CorePlace("n1", core) for core in nearest_first(parts, frozenset(range(1024)))]
    assert list(pair_of_each_locality(places, lambda _: parts, {})) == pairs


def test_one_pair_of_each_locality_across_nodes() -> None:
    places = [CorePlace(host, frozenset({core})) for host in ("n1", "n2", "n3") for core in (0, 1)]
    switches = {"n1": "g1", "n2": "g1", "n3": "g2"}
    assert list(pair_of_each_locality(places, lambda _: {}, switches)) == [(0, 1), (0, 2), (0, 4)]
    assert list(pair_of_each_locality(places, lambda _: {}, {})) == [(0, 1), (0, 2)]


@pytest.mark.parametrize("text", ["", "3", "0-3", "0-3,8", "0,2,4-5"])
def test_cpu_lists_read_back(text: str) -> None:
    assert fold_numbers(parse_cpus(text)) == text


def test_a_cpu_list_is_bounded_over_all_its_spans() -> None:
    with pytest.raises(ValueError, match="more than 1000000 CPUs"):
        parse_cpus(",".join(["0-999999"] * 9_999))


@pytest.mark.parametrize("text", ["x", "1-", "-1", "1-2-3"])
def test_an_invalid_cpu_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a range of CPUs"):
        parse_cpus(text)
