"""The machine that is here: this computer, the nodes of a Slurm allocation, or a partition seen from a login node."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.machine.here.cores import Cores, read_cores
from timpani.machine.launchers.slurm_tables import (
    SINFO_FORMAT,
    Shape,
    groups_of,
    parse_counts,
    parse_sinfo,
    parse_topology,
)
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.machine.nodes.node_set import expand, fold
from timpani.native.mpi import Mpi

_TOPOLOGY = Path("/etc/slurm/topology.conf")
_ANSWER_SECONDS = 30


def detect(mpi: Mpi, partition: str | None = None) -> Machine:
    """The nodes of `partition`; else those of the allocation that this process is in; else this computer."""
    environment = os.environ
    if partition is not None:
        table = _ask("sinfo", "--noheader", "--Node", f"--partition={partition}", f"--format={SINFO_FORMAT}")
        if not table:
            raise UserError(f"Slurm knows no nodes of the partition {partition!r}", "`sinfo` shows the partitions")
        return slurm_machine(partition, mpi, parse_sinfo(table), parse_topology(_topology()))
    if "SLURM_JOB_NODELIST" not in environment:
        return this_computer(mpi)
    nodes = expand(environment["SLURM_JOB_NODELIST"])
    table = _ask("sinfo", "--noheader", "--Node", f"--nodes={fold(nodes)}", f"--format={SINFO_FORMAT}")
    name = environment.get("SLURM_JOB_PARTITION") or environment.get("SLURM_CLUSTER_NAME") or "slurm"
    granted = allocated(environment, parse_sinfo(table), read_cores())
    return slurm_machine(name, mpi, granted, parse_topology(_topology()))


def this_computer(mpi: Mpi) -> Machine:
    """The computer that this process runs on, with the cores that it may use."""
    cores = read_cores()
    alike = cores.usable == cores.present and cores.present % cores.sockets == 0
    sockets = cores.sockets if alike else 1  # which cores are left out is not known
    name = platform.node()
    # Unchecked: whatever the kernel calls itself is this computer's name.
    group = NodeGroup.model_construct(
        name=name, nodes=(name,), cores=cores.usable, sockets=sockets, caches=cores.caches if alike else None
    )
    return Machine(name=name, launcher=mpi.kind, groups=(group,))


def slurm_machine(name: str, mpi: Mpi, nodes: Mapping[str, Shape], switches: Mapping[str, tuple[str, ...]]) -> Machine:
    """A cluster of `nodes`, started by the library's own launcher."""
    return Machine(name=name, launcher=mpi.kind, groups=tuple(groups_of(nodes, switches)))


def allocated(environment: Mapping[str, str], table: Mapping[str, Shape], here: Cores) -> dict[str, Shape]:
    """What a job may use of each of its nodes, in the nodes' order.

    `environment` holds Slurm's variables, `table` the whole nodes; nodes that it lacks are taken to be like `here`. A
    job that asked for tasks has as many slots on a node as tasks, and mpirun starts no more there.
    """
    names = expand(environment["SLURM_JOB_NODELIST"])
    cpus = parse_counts(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))
    tasks = parse_counts(environment.get("SLURM_TASKS_PER_NODE", "")) if "SLURM_NTASKS" in environment else ()
    granted = {}
    for number, name in enumerate(names):
        cores, sockets, threads = table.get(name, Shape(here.present, here.sockets, here.threads_per_core))
        limits = [cores]
        limits += [max(1, cpus[number] // threads)] if number < len(cpus) else []
        limits += [tasks[number]] if number < len(tasks) else []
        # Which cores a part of a node has is not told, and so not which sockets.
        granted[name] = Shape(min(limits), sockets if min(limits) == cores else 1, threads)
    return granted


def _topology() -> str:
    return _ask("scontrol", "show", "topology") or (_TOPOLOGY.read_text() if _TOPOLOGY.is_file() else "")


def _ask(program: str, *arguments: str) -> str:
    """What a command of Slurm's prints; nothing where it is missing or fails."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
