"""Chooses the launcher of a request: the library's, Slurm's, or the lab's."""

from collections.abc import Callable

from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers import lab_launcher as lab
from timpani.machine.launchers import srun as slurm
from timpani.machine.launchers.simulated import on_platform
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi

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
