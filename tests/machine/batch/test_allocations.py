"""The nodes of a job, from the environment that each batch system gives it, in the formats that it documents."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.machine.batch.batch_system import NodeShape, NodeShare
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, FLUX, LSF, PALS, PBS, current_job
from timpani.machine.cores import Cores
from timpani.machine.detect import allocated, detect
from timpani.native.mpi import Mpi

DATA = Path(__file__).parents[2] / "data" / "jobs"
MPI = Mpi("openmpi", "Open MPI", "4.1.6", Path("mpirun"), Path("mpicxx"), None)
HERE = Cores("EPYC", 48, 48, None, 2, 2, 1, None)


def environment_of(name: str) -> dict[str, str]:
    """The variables of a job as the batch system documents them, with the whole paths of the files next to them."""
    lines = (DATA / name / "environment.txt").read_text().splitlines()
    variables = dict(line.split("=", 1) for line in lines)
    return {key: value.replace("FOLDER", str(DATA / name)) for key, value in variables.items()}


EXPECTED = {
    "pbs": {"node01": 4, "node02": 4},
    "pbs-unequal": {"node01.cluster.example": 2, "node07.cluster.example": 1},
    "torque": {"node12": 3, "node11": 3},
    "lsf": {"hostA": 2, "hostB": 3},
    "lsf-rank-file": {"hostB": 2, "hostA": 1},
    "lsf-hosts": {"hostA": 1, "hostB": 2},
    "sge": {"compute-0-1.local": 20, "compute-0-2.local": 4},
    "pals": {"x1000c0s0b0n0": 2, "x1000c0s0b0n1": 2},
    "pals-list": {"x1000c0s0b0n0": 1, "x1000c0s0b0n1": 1},
}


def test_every_written_job_is_expected() -> None:
    assert {folder.name for folder in DATA.iterdir() if folder.is_dir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_job_has_the_nodes_and_slots_that_its_environment_names(name: str) -> None:
    environment = environment_of(name)
    found = [kind for kind, system in BATCH_SYSTEMS.items() if system.allocation(environment) is not None]
    asked = BATCH_SYSTEMS[found[0]].allocation(environment)
    assert found[0] == {"torque": "pbs"}.get(name, name.partition("-")[0])
    assert asked == {node: NodeShare(slots=slots) for node, slots in EXPECTED[name].items()}
    assert list(asked or ()) == list(EXPECTED[name]), "in the batch system's order"


def test_a_job_of_part_of_a_node_has_as_many_cores_as_slots() -> None:
    asked = {"n1": NodeShare(slots=48), "n2": NodeShare(slots=6), "n3": NodeShare(slots=96), "n4": NodeShare()}
    assert allocated(asked, {}, HERE) == {
        "n1": NodeShape(48, 2, 1),
        "n2": NodeShape(6, 1, 1),
        "n3": NodeShape(48, 2, 1),
        "n4": NodeShape(48, 2, 1),
    }


def test_the_machine_of_a_job_is_called_after_its_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("SLURM_", "PBS_", "LSB_", "FLUX_", "PALS_")) or name == "PE_HOSTFILE":
            monkeypatch.delenv(name)
    for name, value in environment_of("pbs").items():
        monkeypatch.setenv(name, value)
    machine = detect(MPI)
    assert (machine.name, [group.nodes for group in machine.groups]) == ("workq", [("node01", "node02")])


def flux(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A `flux` that answers; no real one can be installed here."""
    (folder / "flux").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "flux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_flux_names_the_nodes_of_the_job_and_old_versions_those_of_the_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FLUX.allocation({}) is None
    instance = {"FLUX_URI": "local:///tmp/flux-x/local-0"}
    flux(tmp_path, monkeypatch, '[ "$*" = "hostlist local" ] && echo "node[1-2],node7"')
    assert FLUX.allocation(instance) == dict.fromkeys(("node1", "node2", "node7"), NodeShare())
    flux(tmp_path, monkeypatch, '[ "$*" = "getattr hostlist" ] && echo "node[3-4]"')
    assert FLUX.allocation(instance) == dict.fromkeys(("node3", "node4"), NodeShare())
    with pytest.raises(UserError, match="lists no nodes"):  # the instance may have more nodes than this job
        FLUX.allocation({**instance, "FLUX_JOB_ID": "123"})


@pytest.mark.parametrize(
    ("read", "variables", "said"),
    [
        (PBS.allocation, {"PBS_NODEFILE": "/missing/file"}, "PBS_NODEFILE's file /missing/file can't be read"),
        (PBS.allocation, {"PBS_NODEFILE": "EMPTY"}, "PBS_NODEFILE names no host"),
        (PBS.allocation, {"PBS_NODEFILE": "OPTION"}, "'--wdir=/' is not a node set"),
        (LSF.allocation, {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": "a 2 b"}, "has a host without slots: b"),
        (LSF.allocation, {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": f"a {'9' * 5000}"}, "is no number of slots"),
        (PALS.allocation, {"PALS_HOSTLIST": "a,;id"}, "';id' is not a node set"),
        (PALS.allocation, {"PALS_HOSTFILE": "/dev/zero"}, "larger than"),
    ],
)
def test_an_allocation_without_nodes_is_one_line(
    read: Callable[[Mapping[str, str]], object], variables: dict[str, str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "EMPTY").write_text("\n")
    (tmp_path / "OPTION").write_text("--wdir=/\n")
    written = {key: str(tmp_path / value) if value.isupper() else value for key, value in variables.items()}
    with pytest.raises(UserError) as caught:
        read(written)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "system"),
    [
        ({"SLURM_JOB_NAME": "holt", "SLURM_JOB_ID": "4711"}, "Slurm"),
        ({"PBS_JOBNAME": "holt", "PBS_JOBID": "4711"}, "PBS"),
        ({"LSB_JOBNAME": "holt", "LSB_JOBID": "4711"}, "LSF"),
    ],
)
def test_a_job_has_its_systems_name_its_own_and_its_number(environment: dict[str, str], system: str) -> None:
    assert current_job(environment) == {"system": system, "name": "holt", "id": "4711"}


def test_a_name_that_cannot_be_printed_or_is_too_long_spoils_no_record() -> None:
    found = current_job({"SLURM_JOB_NAME": "a\nb", "SLURM_JOB_ID": "1"})
    assert found == {"system": "Slurm", "name": "", "id": "1"}
    long = current_job({"SLURM_JOB_NAME": "a" * 100_000, "SLURM_JOB_ID": "1"})
    assert long is not None
    assert len(long["name"]) < 1000
