"""Slurm's srun, inside an allocation; for libraries whose own launcher can't be used."""

import shutil
import subprocess
from functools import cache

from timpani.errors import UserError
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine
from timpani.machine.nodes.node_set import fold
from timpani.machine.nodes.places import requested_places
from timpani.native.mpi import Mpi
from timpani.study.placement import ranks_per_node

LAUNCHER = "slurm"
"""Its name in a machine file."""

_DISTRIBUTIONS = {"socket": "block:cyclic", "node": "cyclic:block"}
"""Distribution over nodes, and over a node's sockets; other placements use block:block."""


def command(mpi: Mpi, request: LaunchRequest, machine: Machine) -> Command:
    """The command, with ranks bound to one core each; without binding if there are more ranks than cores.

    srun uses nodes in the order of their names, whatever the order of the hosts.
    """
    library = LIBRARIES[mpi.kind]
    interface = library.slurm_interface
    if interface is None:
        raise UserError(f"srun can't start the ranks of {mpi}", "name its own launcher in the machine file")
    if interface not in interfaces():
        raise UserError(
            f"srun has no {interface}, which ranks of {mpi.title} need to find each other",
            f'`srun --mpi=list` shows what it has; write launcher = "{mpi.kind}" to start with its own launcher',
        )
    variables = {library.variable(name): value for name, value in request.parameters}
    return Command(
        argv=(
            *("srun", f"--mpi={interface}", "--kill-on-bad-exit", f"--ntasks={request.ranks}"),
            *(*_placement_options(request, machine), *request.arguments, *request.program),
        ),
        environment={**dict(mpi.environment), **variables, **request.environment},  # srun passes on its own environment
    )


def _placement_options(request: LaunchRequest, machine: Machine) -> tuple[str, ...]:
    if not request.hosts:  # this computer
        return "--nodes=1", *(("--overcommit", "--cpu-bind=none") if request.oversubscribed else ("--cpu-bind=cores",))
    if request.oversubscribed:
        nodes = [host.name for host in request.hosts]
        return f"--nodes={len(nodes)}", f"--nodelist={fold(nodes)}", "--overcommit", "--cpu-bind=none"
    places = requested_places(machine, request.hosts, request.placement, request.ranks)
    used = {place.host for place in places}
    most = ranks_per_node(request.placement) or max(host.slots or 1 for host in request.hosts)
    return (
        *(f"--nodes={len(used)}", f"--nodelist={fold(used)}", f"--ntasks-per-node={most}"),
        *(f"--distribution={_DISTRIBUTIONS.get(request.placement, 'block:block')}", "--cpu-bind=cores"),
    )


@cache
def interfaces() -> frozenset[str]:
    """The values of `srun --mpi` here."""
    srun = shutil.which("srun")
    if srun is None:
        return frozenset()
    listed = subprocess.run([srun, "--mpi=list"], capture_output=True, text=True, check=False)
    return frozenset((listed.stdout + listed.stderr).split())
