"""Chooses the launcher of a request: the library's, Slurm's, or the lab's."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers import lab_launcher as lab
from timpani.machine.launchers import srun as slurm
from timpani.machine.nodes.model import Machine
from timpani.machine.nodes.places import requested_places
from timpani.machine.platforms.platform import read_platform
from timpani.native.mpi import Mpi


def on_platform(request: LaunchRequest, machine: Machine) -> LaunchRequest:
    """`request` with the platform of `machine`, and a host for each rank."""
    assert machine.platform, "a simulated machine is read from its platform"
    places = requested_places(machine, request.hosts, request.placement, request.ranks)
    if len(places) < request.ranks:
        raise UserError(f"{machine.name} has fewer than {request.ranks} cores", "use fewer ranks")
    nodes: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for socket in read_platform(platform := Path(machine.platform)):
        nodes[socket.node].append(socket.cores)
    hosts = tuple(nodes[place.host][place.socket or 0][place.core] for place in places)
    return replace(request, platform=platform, simulated_hosts=hosts)


_LAUNCHERS: dict[str, Callable[[Mpi, LaunchRequest, Machine], Command]] = {
    slurm.LAUNCHER: slurm.command,
    lab.LAUNCHER: lab.command,
}
"""Those that are no library's own, by their word in a machine file."""


def command(mpi: Mpi, request: LaunchRequest, machine: Machine | None = None) -> Command:
    """The command that starts `request` with the launcher of `machine`; None: the library's, on this computer."""
    if machine and machine.launcher in _LAUNCHERS:
        return _LAUNCHERS[machine.launcher](mpi, request, machine)
    if machine and machine.simulated:
        request = on_platform(request, machine)
    return LIBRARIES[mpi.kind].command(mpi, request)
