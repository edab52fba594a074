"""Which hosts, in which order, in which syntax; and where ranks on them are to go."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.libraries.library import Host, Library, host_file
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.host_list import (
    RankBinding,
    capacity,
    choose_hosts,
    on_machine,
    read_hosts,
    read_loads,
    requested_places,
    same_host,
)
from timpani.machine.nodes.model import Machine


def machine(*sizes: int, cores: int = 4, sockets: int = 1) -> Machine:
    """Groups a, b, … with that many nodes each: a1, a2, …"""
    groups = [
        {"name": name, "nodes": f"{name}[1-{size}]", "cores": cores, "sockets": sockets}
        for name, size in zip("abcdefgh", sizes, strict=False)
    ]
    return Machine.check({"name": "m", "launcher": "openmpi", "groups": groups}, "test")


FOUR = machine(4, 4, 4, 4)


def names(hosts: tuple[Host, ...]) -> str:
    return " ".join(host.name for host in hosts)


def test_the_less_loaded_nodes_of_each_group_are_taken_and_unknown_loads_last(tmp_path: Path) -> None:
    (tmp_path / "loads.txt").write_text("a1 3.5\na2 0.25\na3 N/A\na4 1\n\nb4 0.5\nb1 0\n")
    loads = read_loads(tmp_path / "loads.txt")
    assert loads == {"a1": 3.5, "a2": 0.25, "a4": 1.0, "b4": 0.5, "b1": 0.0}
    assert names(choose_hosts(machine(4, 4), nodes=4, loads=loads)) == "a2 a4 b1 b4"
    assert names(choose_hosts(machine(4, 4), nodes=8, loads=loads)) == "a2 a4 a1 a3 b1 b4 b2 b3"
    assert names(choose_hosts(machine(4, 4), nodes=4)) == "a1 a2 b1 b2"
    with pytest.raises(UserError, match="no node of m has a known load; name the nodes as m does"):
        choose_hosts(machine(4, 4), nodes=4, loads={"login": 0.5})


@pytest.mark.parametrize("text", ["", "a1\n", "a1 much\n", "a1 -1\n", "a1 nan\n", "a1 N/A\n", "a1 1 2\n"])
def test_an_invalid_load_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "loads.txt").write_text(text)
    with pytest.raises(UserError, match="sinfo"):
        read_loads(tmp_path / "loads.txt")
    with pytest.raises(UserError, match=r"absent.txt can't be read \(there is no such file\)"):
        read_loads(tmp_path / "absent.txt")


def test_excluded_nodes_and_groups_without_others_are_left_out() -> None:
    assert names(choose_hosts(machine(1, 2, 1), category=3, groups=2, exclude=("a1", "b1"))) == "b2 c1"
    with pytest.raises(UserError, match="did you mean a1"):
        choose_hosts(machine(1), exclude=("a11",))


@given(category=st.sampled_from([1, 2, 3]), groups=st.integers(1, 4), data=st.data(), seed=st.integers(0, 99))
def test_nodes_are_taken_evenly_from_groups_in_a_seeds_order(
    category: int, groups: int, data: st.DataObject, seed: int
) -> None:
    nodes = data.draw(st.integers(1, 4 * groups))
    hosts = choose_hosts(FOUR, category, groups, nodes, seed=seed)
    assert hosts == choose_hosts(FOUR, category, groups, nodes, seed=seed)
    counts = Counter(host.name[0] for host in hosts)
    assert sum(counts.values()) == nodes == len(set(hosts))
    assert max(counts.values()) - min(counts.values()) <= 1
    if category < 3:
        assert len(re.findall(r"(.)\1*", "".join(host.name[0] for host in hosts))) == len(counts), "a group comes twice"
    assert len({names(choose_hosts(FOUR, seed=each)) for each in range(20)}) > 1


def test_by_socket_deals_a_nodes_ranks_over_its_sockets() -> None:
    cluster = machine(2, sockets=2)
    hosts = choose_hosts(cluster)
    assert [(place.socket, place.core) for place in requested_places(cluster, hosts, "core", 4)] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert [place.socket for place in requested_places(cluster, hosts, "socket", 5)] == [0, 1, 0, 1, 0]
    assert requested_places(machine(1), choose_hosts(machine(1)), "core", 4)[3] == RankBinding("a1", None, 3)


@given(
    placement=st.sampled_from(["core", "socket", "node", "ppr:1", "ppr:3", "ppr:9"]),
    slots=st.lists(st.one_of(st.none(), st.integers(1, 9)), min_size=1, max_size=4),
    sockets=st.sampled_from([1, 2, 3]),
)
def test_no_core_is_given_twice_and_all_are_given(placement: str, slots: list[int | None], sockets: int) -> None:
    cluster = machine(4, cores=6, sockets=sockets)
    hosts = tuple(Host(f"a{number}", count) for number, count in enumerate(slots, 1))
    room = capacity(cluster, hosts, placement)
    places = requested_places(cluster, hosts, placement, room + 5)
    assert len(places) == len(set(places)) == room <= 6 * len(hosts)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("category", [1, 3])
def test_a_written_file_is_read_again(library: Library, category: int, tmp_path: Path) -> None:
    hosts = choose_hosts(FOUR, category)
    text = host_file(hosts, library.launcher.host_with_slots)
    assert "[" not in text, "launchers know no node sets"
    (tmp_path / "hosts").write_text(text)
    assert read_hosts(tmp_path / "hosts") == hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1 slots=4 max_slots=8\nn2 max-slots=4 slots=2", (Host("n1", 4), Host("n2", 2))),
        ("n1:4 binding=user:0-3\nn2:4 user=me ifhn=eth1", (Host("n1", 4), Host("n2", 4))),
        ("me@n1 slots=4\nme@n2", (Host("n1", 4), Host("n2"))),
        ("n1 max_slots=2", (Host("n1"),)),
        ("n2\nn2\nn1\nn1\nn1", (Host("n2", 2), Host("n1", 3))),
        ("n[1-2],n1", (Host("n1"), Host("n2"))),
    ],
)
def test_host_files_of_launchers_and_batch_systems_are_read(text: str, hosts: tuple[Host, ...], tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(text)
    assert read_hosts(tmp_path / "hosts") == hosts


def test_hosts_get_the_names_that_the_machine_has_for_them() -> None:
    asked = (Host("A2.cluster.example", 2), Host("a1", 3), Host("a2", 1), Host("elsewhere.example", 1))
    assert on_machine(machine(2), asked) == (Host("a2", 3), Host("a1", 3), Host("elsewhere.example", 1))
    groups = [{"name": "g", "nodes": ["n1.east", "n1.west"], "cores": 4}]
    two = Machine.check({"name": "m", "launcher": "openmpi", "groups": groups}, "test")
    assert on_machine(two, (Host("n1.west", 2),)) == (Host("n1.west", 2),)
    with pytest.raises(UserError, match=r"n1 may be n1\.east or n1\.west of m"):
        on_machine(two, (Host("n1"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n1 slots=0", "line 1: 'n1 slots=0' is not a host"),
        ("n1 rack=2", "line 1: 'n1 rack=2' is not a host: rack=2"),
        ("n[0-9999999999]", "line 1: 'n[0-9999999999]' names 10000000000 nodes"),
        ("n[1-99999]\n" * 99, "names more than"),
        ("-x", "line 1: '-x' is not a node set"),
        ("# none\n", "names no host"),
    ],
)
def test_a_mistake_in_a_host_file_is_named_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(UserError) as caught:
        read_hosts(tmp_path / "hosts")
    assert said in caught.value.what


def test_hosts_are_the_same_with_and_without_their_domain() -> None:
    assert same_host("n1", "n1.cluster.local")
    assert same_host("N1.cluster", "n1")
    assert not same_host("n1", "n10")
    assert not same_host("n1.a", "n1.b")
