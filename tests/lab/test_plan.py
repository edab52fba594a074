"""What a lab is planned to be: the commands are followed on paper, and give the network that was asked for."""

import errno
import fcntl
import os
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.machine.lab import make
from timpani.machine.lab.lab import SWITCHES, Lab, Layout, parse_rate, show_rate
from timpani.machine.lab.make import burst_bytes, steps

MAX_NAME_CHARACTERS = 15  # characters of an interface's name: IFNAMSIZ in linux/if.h, less the final zero

rates = st.integers(10**5, 10**11)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    nodes = draw(st.integers(1, 40))
    groups = draw(st.integers(1, nodes))
    return Layout(nodes=nodes, groups=groups, cores=2, link=draw(rates), uplink=draw(rates))


Device = tuple[str, str]  # namespace and name


@dataclass
class Network:
    """What the commands make; a command that the kernel would refuse fails."""

    devices: dict[str, set[str]] = field(default_factory=dict)  # by namespace
    peers: dict[Device, Device] = field(default_factory=dict)
    bridge_of: dict[Device, Device] = field(default_factory=dict)
    rates: dict[Device, int] = field(default_factory=dict)
    addresses: dict[Device, str] = field(default_factory=dict)
    running: set[Device] = field(default_factory=set)

    def follow(self, argv: tuple[str, ...]) -> None:
        match argv:
            case ("ip", "netns", "add", namespace):
                assert namespace not in self.devices
                self.devices[namespace] = {"lo"}
            case ("ip", "-n", namespace, "link", "add", name, "type", "bridge"):
                self.add(namespace, name)
            case ("ip", "-n", here, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", there):
                self.add(here, name)
                self.add(there, peer)
                self.peers |= {(here, name): (there, peer), (there, peer): (here, name)}
            case ("ip", "-n", namespace, "link", "set", name, "master", bridge):
                assert {name, bridge} <= self.devices[namespace]
                self.bridge_of[namespace, name] = (namespace, bridge)
            case ("ip", "-n", namespace, "link", "set", name, "up"):
                assert name in self.devices[namespace]
                self.running.add((namespace, name))
            case ("ip", "-n", namespace, "address", "add", address, "dev", name):
                assert name in self.devices[namespace]
                self.addresses[namespace, name] = address
            case ("tc", "-n", namespace, "qdisc", "add", "dev", name, "root", "tbf", "rate", rate, *_):
                assert name in self.devices[namespace]
                self.rates[namespace, name] = int(rate.removesuffix("bit"))
            case _:
                raise AssertionError(argv)

    def add(self, namespace: str, name: str) -> None:
        assert name not in self.devices[namespace]
        assert len(name) <= MAX_NAME_CHARACTERS
        self.devices[namespace].add(name)

    def hops(self) -> dict[Device, list[tuple[Device, int]]]:
        """From each end and bridge to its neighbors, with the rate of the link crossed, 0 inside a switch."""
        found: defaultdict[Device, list[tuple[Device, int]]] = defaultdict(list)
        for port, bridge in self.bridge_of.items():
            found[port].append((bridge, 0))
            found[bridge].append((port, 0))
        for end, peer in self.peers.items():
            found[end].append((peer, self.rates[end]))
        return found


def network(layout: Layout) -> Network:
    made = Network()
    for step in steps(layout):
        made.follow(step.argv)
    return made


def links_between(made: Network, one: Device, other: Device) -> list[int]:
    """The rates of the links crossed on the way from one device to another."""
    hops = made.hops()
    ways: dict[Device, list[int]] = {one: []}
    waiting = deque([one])
    while waiting:
        here = waiting.popleft()
        for there, rate in hops[here]:
            if there not in ways:
                ways[there] = [*ways[here], *([rate] if rate else [])]
                waiting.append(there)
    return ways[other]


@given(layouts())
def test_the_network_is_a_tree_that_is_up_and_shaped_in_both_directions(layout: Layout) -> None:
    made = network(layout)
    assert set(made.devices) == set(layout.namespaces)
    assert made.running == {(space, name) for space, names in made.devices.items() for name in names}
    assert set(made.rates) == set(made.peers)
    bridges = set(made.bridge_of.values())
    ends = len(made.peers)
    # A loop of bridges would carry a broadcast round for ever. A tree has one edge less than it has vertices.
    assert ends // 2 + len(made.bridge_of) == len(bridges) + ends - 1


@given(layouts())
def test_nodes_are_dealt_out_evenly_and_have_an_address_each(layout: Layout) -> None:
    sizes = Counter(node.group for node in layout.members)
    assert set(sizes) == set(range(1, layout.groups + 1))
    assert max(sizes.values()) - min(sizes.values()) <= 1
    assert [node.group for node in layout.members] == sorted(node.group for node in layout.members)
    addresses = network(layout).addresses.values()
    assert len(set(addresses)) == layout.nodes
    assert all(address.startswith("10.0.") and address.endswith("/16") for address in addresses)


@pytest.mark.parametrize(("nodes", "groups"), [(1, 1), (4, 1), (4, 2), (7, 3), (5, 5)])
def test_groups_are_reached_over_their_uplinks_and_neighbors_are_not(nodes: int, groups: int) -> None:
    layout = Layout(nodes=nodes, groups=groups, cores=1, link=10**9, uplink=250 * 10**6)
    made = network(layout)
    for one, other in combinations(layout.members, 2):
        way = links_between(made, (layout.namespace(one.name), "eth0"), (layout.namespace(other.name), "eth0"))
        between = [] if one.group == other.group else [250 * 10**6] * 2
        assert way == [10**9, *between, 10**9]


def test_two_labs_share_no_name() -> None:
    one, other = (Layout(nodes=3, groups=1, cores=1, link=10**9, uplink=10**9) for _ in range(2))
    assert not set(one.namespaces) & set(other.namespaces)
    assert one.namespace(SWITCHES) not in (one.namespace(node.name) for node in one.members)


@given(rates)
def test_a_burst_is_a_small_part_of_a_second(rate: int) -> None:
    assert 2**12 <= burst_bytes(rate) <= max(2**12, rate / 8 / 999)


@given(rates)
def test_a_shown_rate_reads_back(rate: int) -> None:
    assert parse_rate(show_rate(rate)) == rate


@pytest.mark.parametrize("text", ["", "1", "1gb", "-1gbit", "1kbit", "0gbit", "900gbit", "1gbit; reboot", "١gbit"])
def test_an_invalid_rate_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse_rate(text)


def test_a_file_system_without_locks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(make, "LABS", tmp_path)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(UserError, match=f"{tmp_path} is on a file system without file locks"):
        make.down(Lab("none", None))
