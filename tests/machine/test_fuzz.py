"""Whatever stands in the files that describe a cluster: it is read, or refused in one line, and never a traceback.

`--hypothesis-profile=thorough` tries ten thousand texts of each kind.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.machine.batch.batch_system import NodeShape
from timpani.machine.batch.slurm_tables import groups_of, parse_counts, parse_sinfo, parse_topology
from timpani.machine.nodes.host_file import read_hosts
from timpani.machine.nodes.model import Machine, read_machine
from timpani.machine.nodes.node_set import expand


def near(*fragments: str) -> st.SearchStrategy[str]:
    """Texts that are nearly right: pieces of the syntax in any order, with anything between."""
    piece = st.one_of(st.sampled_from(fragments), st.text(max_size=3), st.integers(0, 10**7).map(str))
    return st.lists(piece, max_size=12).map("".join)


SETS = near("node", "[", "]", "01-08", ",", "-", "[1-3]", "@rack", "!", "&", " ", "0", "n1")
TOPOLOGIES = near(
    *(
        "SwitchName=",
        "BlockName=",
        "s1",
        " ",
        "\n",
        "Nodes=",
        "n[1-4]",
        "[",
        "Switches=",
        "#",
        "=",
        "LinkSpeed=1",
        "\\\n",
    )
)
HOST_FILES = near("n1", "n[1-3]", " slots=", "slots", ":", "4", "0", "\n", "#", " ", "\t", "-", "max_slots=2")
MACHINES = near(
    *('name = "m"\n', 'launcher = "openmpi"\n', "[[groups]]\n", 'nodes = "n[1-2]"\n', "cores = 4\n", "sockets = 2\n"),
    *('switch = ""\n', "groups", "=", "[", "]", '"', "\n", "modules = []\n", "mpi = 3\n", "cores = 1e9\n"),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "file"


def refused(read: Callable[..., Any], *arguments: Any) -> Any:
    """What `read` returns; None where it refuses in one line."""
    try:
        return read(*arguments)
    except UserError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
    return None


@given(SETS)
def test_node_sets(text: str) -> None:
    names = refused(expand, text)
    assert names is None or len(set(names)) == len(names)


@given(TOPOLOGIES, st.lists(st.sampled_from(["n1", "n2", "n5"]), unique=True))
def test_topologies(text: str, nodes: list[str]) -> None:
    switches = refused(parse_topology, text)
    if switches is not None:
        groups = refused(lambda: list(groups_of(dict.fromkeys(nodes, NodeShape(4, 1, 1)), switches)))
        assert groups is None or sorted(node for group in groups for node in group.nodes) == sorted(nodes)


@given(near("n1", " ", "\n", "2", "12", "(x2)", ",", "-", "unknown", "1.5"))
def test_tables_of_slurm(text: str) -> None:
    refused(parse_sinfo, text)
    refused(parse_counts, text)


@given(text=HOST_FILES)
def test_host_files(text: str, file: Path) -> None:
    file.write_text(text, errors="surrogatepass")
    hosts = refused(read_hosts, file)
    assert hosts is None or len({host.name for host in hosts}) == len(hosts) > 0


@given(text=MACHINES)
def test_machine_files(text: str, file: Path) -> None:
    file.write_text(text, errors="surrogatepass")
    machine = refused(read_machine, file)
    assert machine is None or isinstance(machine, Machine)


@given(raw=st.binary(max_size=64))
def test_files_that_are_no_text(raw: bytes, file: Path) -> None:
    file.write_bytes(raw)
    refused(read_machine, file)
    refused(read_hosts, file)
