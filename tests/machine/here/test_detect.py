"""Machines as Slurm describes them, recorded and written by hand: `tests/data/machines`."""

from pathlib import Path

import pytest

from timpani.machine.batch.batch_system import ClusterTables, NodeShape
from timpani.machine.batch.slurm_jobs import allocation, parse_counts, parse_sinfo, parse_topology
from timpani.machine.cores import Cores
from timpani.machine.detect import allocated, cluster
from timpani.machine.nodes.model import Machine, read_machine, write_machine
from timpani.native.mpi import Mpi

DATA = Path(__file__).parents[2] / "data" / "machines"
MPI = Mpi("openmpi", "Open MPI", "4.1.6", Path("mpirun"), Path("mpicxx"), None)
HERE = Cores("Xeon", 24, 24, None, 2, 2, 1, None)


def replayed(folder: Path) -> Machine:
    environment = dict(line.split("=", 1) for line in (folder / "environment.txt").read_text().splitlines())
    asked = allocation(environment)
    assert asked is not None
    granted = allocated(asked, parse_sinfo((folder / "sinfo.txt").read_text()), HERE)
    switches = parse_topology((folder / "topology.txt").read_text())
    return cluster(environment["SLURM_JOB_PARTITION"], MPI, ClusterTables(granted, switches))


@pytest.mark.parametrize(
    "folder", [path for path in sorted(DATA.iterdir()) if path.is_dir()], ids=lambda path: path.name
)
def test_an_allocation_becomes_the_machine_written_down(folder: Path) -> None:
    machine = replayed(folder)
    assert write_machine(machine) == (folder / "machine.toml").read_text()
    assert read_machine(folder / "machine.toml") == machine


def test_the_lowest_switches_are_the_groups() -> None:
    tree = parse_topology((DATA / "tree" / "topology.txt").read_text())
    assert list(tree) == ["leaf1", "leaf2", "leaf3", "leaf4"]
    assert tree["leaf1"] == tuple(f"node0{number}" for number in range(1, 9))
    assert parse_topology((DATA / "tree" / "topology.conf").read_text()) == tree
    assert parse_topology("BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n") == {"b1": ("n1", "n2")}
    assert parse_topology("") == {}


@pytest.mark.parametrize(
    ("text", "counts"), [("48(x2),24", (48, 48, 24)), ("2", (2,)), ("", ()), ("1(x3),2(x1)", (1, 1, 1, 2))]
)
def test_counts_for_each_node(text: str, counts: tuple[int, ...]) -> None:
    assert parse_counts(text) == counts


def test_sockets_that_slurm_made_up_are_not_believed() -> None:
    assert parse_sinfo("n1 2 1 1\nn2 2 12 1\n") == {"n1": NodeShape(2, 1, 1), "n2": NodeShape(24, 2, 1)}
