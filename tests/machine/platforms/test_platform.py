"""SimGrid's platform files as machines; no SimGrid is needed."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from timpani.errors import UserError
from timpani.libraries.library import LaunchRequest
from timpani.machine.launchers import command
from timpani.machine.nodes.host_list import choose_hosts, with_slots
from timpani.machine.platform import find_platform, machine_of, shipped_platforms
from timpani.native.mpi import Mpi

_SIMGRID = Mpi("simgrid", "SimGrid", "3.32", Path("/usr/bin/smpirun"), Path("/usr/bin/smpicxx"), None)


@pytest.mark.parametrize(
    ("name", "groups", "nodes", "cores", "sockets"),
    [("two-nodes-of-128", 1, 2, 128, 2), ("two-nodes-of-24", 1, 2, 24, 2), ("four-groups-of-4", 4, 4, 16, 1)],
)
def test_shipped_platforms_have_their_nodes(name: str, groups: int, nodes: int, cores: int, sockets: int) -> None:
    machine = machine_of(find_platform(name))
    assert machine.simulated
    assert [(len(each.nodes), each.cores, each.sockets) for each in machine.groups] == [
        (nodes, cores, sockets)
    ] * groups


def hosts_of_ranks(placement: str, ranks: int) -> list[str]:
    machine = machine_of(find_platform("two-nodes-of-24"))
    hosts = with_slots(machine, choose_hosts(machine))
    request = LaunchRequest(ranks, placement, False, (), {}, ("program",), hosts, Path("launch"))
    return command(_SIMGRID, request, machine).files["hosts.txt"].splitlines()


def test_by_core_ranks_fill_a_socket_then_the_next() -> None:
    hosts = hosts_of_ranks("core", 26)
    assert hosts[0] == "node1-socket0-core0"
    assert hosts[12] == "node1-socket1-core0"
    assert hosts[24] == "node2-socket0-core0"


def nodes_of(path: Path, text: str) -> dict[str, tuple[int, int]]:
    """The cores and sockets of each node that a platform with `text` has."""
    path.write_text(f'<platform version="4.1"><zone id="z" routing="Full">{text}</zone></platform>')
    return {node: (each.cores, each.sockets) for each in machine_of(path).groups for node in each.nodes}


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ('<cluster id="c" prefix="n" suffix=".x" radical="0-1,7"/>', dict.fromkeys(("n0.x", "n1.x", "n7.x"), (1, 1))),
        ('<cluster id="c" prefix="n" suffix="" radical="0-1" core="4"/>', {"n0": (4, 1), "n1": (4, 1)}),
        ('<cluster id="c" prefix="n" suffix="" radical="0-3"><prop id="node" value="a"/></cluster>', {"a": (4, 1)}),
        (
            '<cluster id="c" prefix="n" suffix="" radical="0-1" core="4"><prop id="node" value="a"/></cluster>',
            {"a": (8, 2)},
        ),
        (
            '<cabinet id="k" prefix="n" suffix="" radical="0-1"/><host id="login" core="2"/>',
            {"n0": (1, 1), "n1": (1, 1), "login": (2, 1)},
        ),
        ('<peer id="p" speed="1Gf" bw_in="1GBps" bw_out="1GBps"/>', {"p": (1, 1)}),
    ],
)
def test_each_host_is_a_node_unless_the_file_says_which_node_it_belongs_to(
    text: str, nodes: dict[str, tuple[int, int]], tmp_path: Path
) -> None:
    assert nodes_of(tmp_path / "mine.xml", text) == nodes


@pytest.mark.parametrize("version", ["3.0", "0"])
def test_a_platform_of_an_old_version_is_named_with_the_command_that_updates_it(version: str, tmp_path: Path) -> None:
    path = tmp_path / "old one.xml"
    path.write_text(
        f'<platform version="{version}"><AS id="z" routing="Full"><host id="a" power="1Gf"/></AS></platform>'
    )
    with pytest.raises(UserError, match=f"of version {version}.*`simgrid_update_xml '.*old one.xml'`"):
        machine_of(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<platform><include file="b.xml"/><host id="a"/></platform>', "includes 'b.xml'"),
        ('<platform><cabinet id="c" prefix="n" suffix="" radical="0-99999999"/></platform>', "not a radical"),
        ("no xml", "can't be read as a platform"),
        ('<platform><host id="a" core="many"/></platform>', "many"),
        ('<platform><host id="a"><prop id="memory_bytes_per_s" value="fast"/></host></platform>', "fast"),
    ],
)
def test_a_bad_platform_is_named_with_what_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        machine_of(path)


@pytest.mark.parametrize(
    ("ranks", "pairwise"), [(2, False), (3, True), (5, False), (64, False), (65, True), (128, False), (129, False)]
)
def test_alltoallv_gets_an_exchange_that_takes_these_ranks(ranks: int, pairwise: bool) -> None:
    """SimGrid's own choice ends the program where Open MPI's exchanges pairwise and ranks are no power of two."""
    machine = machine_of(find_platform("two-nodes-of-128"))
    hosts = with_slots(machine, choose_hosts(machine))
    forced = (("smpi/alltoallv", "bruck"),)
    request = LaunchRequest(ranks, "core", False, forced, {}, ("program",), hosts, Path("launch"))
    argv = command(_SIMGRID, request, machine).argv
    assert ("--cfg=smpi/alltoallv:ring" in argv) is pairwise
    assert argv[-2:] == ("--cfg=smpi/alltoallv:bruck", "program")  # so that what is forced comes last, and holds


@pytest.mark.parametrize("name", shipped_platforms())
def test_a_core_sends_what_it_copies(name: str) -> None:
    """Else packing and sending piece by piece would beat a message of the same bytes, since only one took time."""
    root = ElementTree.parse(find_platform(name)).getroot()
    config = {prop.get("id"): prop.get("value", "") for prop in root.iterfind("config/prop")}
    for cluster in root.iter("cluster"):
        (memory,) = (prop.get("value", "") for prop in cluster.iterfind("prop[@id='memory_bytes_per_s']"))
        assert cluster.get("bw") == f"{float(memory) / 1e9:g}GBps"
        for sending in ("smpi/os", "smpi/ois"):
            eager, _ = config[sending].split(";")
            assert float(eager.split(":")[2]) == pytest.approx(1 / float(memory))
