"""The machine of `--on`; the one that is here: this computer, a job's nodes, or a partition seen from a login node."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.find import choose_mpi
from timpani.machine.batch.batch_system import Allocation, BatchSystem, ClusterTables, NodeShape
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, names_batch_system
from timpani.machine.batch.slurm_jobs import groups_of, nodes_of_partition
from timpani.machine.cores import Cores, read_cores
from timpani.machine.launchers import LAB, SRUN, lab_machine
from timpani.machine.nodes.model import Machine, NodeGroup, read_machine
from timpani.machine.platform import find_platform, machine_of
from timpani.native.mpi import Mpi
from timpani.study.trust import how_to_trust, is_trusted

# `module` is a function of login shells.
_LOAD = 'module load "$@" >&2'
_SECONDS = 60


def shell_environment(
    shell: str, commands: str, arguments: Sequence[str], environment: Mapping[str, str], *, login: bool = False
) -> tuple[dict[str, str] | None, str]:
    """The environment after a shell's `commands`, or None where they fail, and what they print on standard error.

    The `arguments` of the commands never become shell text. OSError or subprocess.TimeoutExpired where they don't end.
    """
    done = subprocess.run(
        [shell, "-lc" if login else "-c", f"{commands} && env -0", "timpani", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env=dict(environment),
    )
    pairs = (entry.partition(b"=") for entry in done.stdout.split(b"\0") if entry)
    found = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return None if done.returncode else found, " ".join(done.stderr.decode(errors="replace").split())


def load_modules(modules: Sequence[str]) -> dict[str, str]:
    """The environment with `modules` loaded; this process's own without modules."""
    if not modules:
        return dict(os.environ)
    shell = shutil.which("bash")
    if shell is None:
        raise UserError("modules need bash, which is not installed", "set PATH yourself, and leave modules out")
    named = " ".join(modules)
    try:
        found, said = shell_environment(shell, _LOAD, modules, os.environ, login=True)
    except subprocess.TimeoutExpired:
        raise UserError(f"`module load {named}` took over {_SECONDS} s", "load them yourself") from None
    # Old versions of `module` report an unknown name but exit with 0.
    if found is None or "ERROR" in said:
        raise UserError(f"`module load {named}` failed: {said[-200:]}", "`module avail` lists modules")
    return found


def detect(mpi: Mpi, partition: str | None = None) -> Machine:
    """The nodes of `partition`; else those of the job that this process is in; else this computer."""
    if partition is not None:
        tables = nodes_of_partition(partition)
        if not tables.shapes:
            raise UserError(f"Slurm knows no nodes of the partition {partition!r}", "`sinfo` shows the partitions")
        return cluster(partition, mpi, tables)
    for system in BATCH_SYSTEMS.values():
        if (allocation := system.allocation(os.environ)) is not None:
            tables = system.tables(tuple(allocation))
            granted = allocated(allocation, tables.shapes, read_cores())
            return cluster(_queue(system, os.environ), mpi, ClusterTables(granted, tables.switches))
    return this_computer(mpi)


def _queue(system: BatchSystem, environment: Mapping[str, str]) -> str:
    return next(filter(None, map(environment.get, system.queue_variables)), system.kind)


def this_computer(mpi: Mpi) -> Machine:
    """The computer that this process runs on, with the cores that it may use."""
    cores = read_cores()
    equal = cores.usable == cores.present and cores.present % cores.sockets == 0
    sockets = cores.sockets if equal else 1  # the excluded cores are unknown
    name = platform.node()
    # Unchecked: any host name that the kernel gives is valid here.
    group = NodeGroup.model_construct(
        name=name, nodes=(name,), cores=cores.usable, sockets=sockets, caches=cores.caches if equal else None
    )
    return Machine(name=name, launcher=_launcher(mpi), groups=(group,))


def cluster(name: str, mpi: Mpi, tables: ClusterTables) -> Machine:
    """A cluster of the nodes in `tables`, started by the library's launcher, or by Slurm's where it has none."""
    groups = groups_of(tables.shapes, tables.switches)
    return Machine.check({"name": name, "launcher": _launcher(mpi), "groups": groups}, "the batch system's nodes")


def _launcher(mpi: Mpi) -> str:
    return SRUN if mpi.started_by_slurm else mpi.kind


def allocated(allocation: Allocation, table: Mapping[str, NodeShape], here: Cores) -> dict[str, NodeShape]:
    """What a job may use of each of its nodes, in the nodes' order.

    table  the whole nodes; nodes that it lacks are taken to be like `here`
    """
    granted = {}
    for name, share in allocation.items():
        cores, sockets, threads = table.get(name, NodeShape(here.present, here.sockets, here.threads_per_core))
        limits = [cores]
        limits += [max(1, share.cpus // threads)] if share.cpus is not None else []
        limits += [share.slots] if share.slots is not None else []
        # Which cores a part of a node has is unknown, and so are its sockets.
        granted[name] = NodeShape(min(limits), sockets if min(limits) == cores else 1, threads)
    return granted


HERE = "here"
"""Instead of a machine file: the machine that `timpani machine detect` finds."""

SIMULATED = "simgrid:"
"""Prefix of a platform's name or file: a machine simulated by SimGrid."""


def resolve(text: str, mpi: str | None = None) -> Machine:
    """The machine of `--on`: a machine file, a lab, `simgrid:PLATFORM`, or `here` with the library `mpi`."""
    if text.startswith(SIMULATED):
        return machine_of(find_platform(text.removeprefix(SIMULATED)))
    if names_batch_system(text):
        raise UserError(f"{text!r} asks for a job", "only `timpani run`, `tune` and `confirm` run in one")
    if text == HERE:
        return detect(choose_mpi(mpi))
    if text.partition(":")[0] == LAB:
        return lab_machine(text)
    machine = read_machine(Path(text))
    _check_trusted(Path(text), machine)
    return machine


def _check_trusted(file: Path, machine: Machine) -> None:
    """UserError if a machine file names programs or modules by their path, and nobody agreed to it."""
    named = [each for each in (machine.mpi or "", *machine.modules) if each.startswith(("/", ".", "~"))]
    if named and not is_trusted(file):
        raise UserError(f"{file} can run programs: it names {named[0]}", how_to_trust(file))
