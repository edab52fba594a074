"""Machine files and the node sets in them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.machine.batch.slurm_jobs import parse_topology
from timpani.machine.nodes.model import Machine, NodeGroup, expand, fold, read_machine, write_machine

GROUP = {"name": "leaf1", "nodes": "node[01-02]", "cores": 24}


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node[0207,0610]", ("node0207", "node0610")),
        ("b,a[1-2],b", ("b", "a1", "a2")),
        ("n[08-10]", ("n08", "n09", "n10")),
        ("rack[1-2]-n[1-2]", ("rack1-n1", "rack1-n2", "rack2-n1", "rack2-n2")),
        ("r[1-2]0n[08-09]s", ("r10n08s", "r10n09s", "r20n08s", "r20n09s")),
        ("10.0.0.1, node1.cluster", ("10.0.0.1", "node1.cluster")),
        ("", ()),
    ],
)
def test_node_sets_are_spelled_out(text: str, nodes: tuple[str, ...]) -> None:
    assert expand(text) == nodes


@pytest.mark.parametrize(
    "text", ["node[1-", "@rack", "-host", "$(touch x)", "n[1-99999999]", "n[0-9999999999]", "n[1-9999999999999999999]"]
)
def test_an_invalid_node_set_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"node set|names"):
        expand(text)


@given(st.sets(st.integers(0, 999), min_size=1))
def test_folding_is_undone_by_expanding(numbers: set[int]) -> None:
    names = {f"n{number:03d}" for number in numbers}
    assert set(expand(fold(names))) == names


@pytest.mark.parametrize("name", ["n[0-9999999999]", "n[1-2]", "@all", "n1!n2", "n%2", "a,b"])
def test_names_that_are_sets_themselves_stand_as_they_are(name: str) -> None:
    assert fold([name, "n1"]) == f"{name},n1"


def test_the_nodes_of_a_group_are_bounded_together() -> None:
    sets = [f"{letter}[1-9999]" for letter in "abcdefghijkl"]
    with pytest.raises(UserError, match="more than 100000 nodes"):
        Machine.check({"name": "m", "launcher": "openmpi", "groups": [{"name": "g", "nodes": sets, "cores": 1}]}, "m")
    with pytest.raises(UserError, match="more than 100000 nodes"):
        parse_topology("".join(f"SwitchName={each[0]} Nodes={each}\n" for each in sets))


def test_a_file_says_what_a_machine_is(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(
        'name = "cluster"\nlauncher = "openmpi"\nmodules = ["openmpi/4.1.6"]\n'
        '[[groups]]\nname = "leaf1"\nnodes = "node[01-02]"\ncores = 24\nsockets = 2\n'
        '[[groups]]\nname = "leaf2"\nnodes = ["node[05-06]", "fat1"]\ncores = 24\n'
    )
    machine = read_machine(file)
    assert [group.nodes for group in machine.groups] == [("node01", "node02"), ("node05", "node06", "fat1")]
    assert (machine.modules, machine.library) == (("openmpi/4.1.6",), "openmpi")
    assert machine.group_of("fat1").name == "leaf2"
    with pytest.raises(UserError, match="did you mean node01"):
        machine.group_of("node1")


_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@given(
    name=_TEXT.filter(str.isprintable),
    modules=st.lists(_TEXT),
    nodes=st.lists(st.integers(1, 40), min_size=1, unique=True),
)
def test_a_written_file_is_read_again(
    name: str, modules: list[str], nodes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    group = NodeGroup(name=name, nodes=tuple(f"n{number}" for number in nodes), cores=4, sockets=2)
    machine = Machine(name=name, launcher="slurm", modules=tuple(modules), groups=(group,))
    file = tmp_path_factory.mktemp("machine") / "m.toml"
    file.write_text(write_machine(machine))
    assert read_machine(file) == machine


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"launcher": "pbs"}, "test: launcher can't be 'pbs'; write one of intel, mpich, openmpi, simgrid, cray, "),
        ({"nodes": "n1"}, "unknown key in test: nodes, 'nodes'"),
        ({"groups": [{**GROUP, "core": 1}]}, "groups.0.core, 'core'; did you mean cores?"),
        ({"groups": [{**GROUP, "cores": 0}]}, "test: groups.0.cores can't be 0"),
        (
            {"groups": [{**GROUP, "cores": 2, "sockets": 3}]},
            "group leaf1: 2 cores can't be divided equally among 3 sockets",
        ),
        (
            {"groups": [{**GROUP, "cores": 8, "sockets": 2, "caches": 1}]},
            "group leaf1: 8 cores on 2 sockets can't be divided equally among 1 last-level cache",
        ),
        ({"name": "\x1b[31m"}, "test: name can't be '\\x1b[31m'; write printable text"),
        ({"groups": [GROUP, GROUP]}, "test: group 'leaf1' is listed twice"),
        ({"groups": [GROUP, {**GROUP, "name": "leaf2"}]}, "test: node 'node01' is listed twice"),
    ],
)
def test_a_mistake_is_named_with_its_key(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as caught:
        Machine.check({"name": "m", "launcher": "openmpi", "groups": [GROUP], **change}, "test")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
