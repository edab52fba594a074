"""From a request to the command that starts the ranks: one file per launcher."""

from collections.abc import Callable

from timpani.errors import unknown
from timpani.machine import lab, mpich, openmpi, simgrid, slurm
from timpani.machine.launch_request import Command, LaunchRequest
from timpani.native.find import Mpi

__all__ = ["Command", "LaunchRequest", "command"]

_LAUNCHERS: dict[str, Callable[[Mpi, LaunchRequest], Command]] = {
    "openmpi": openmpi.command,
    "mpich": mpich.command,
    "slurm": slurm.command,
    "lab": lab.command,
    "simgrid": simgrid.command,
}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """The command that starts `request` with the launcher of its machine, else with that of `mpi`."""
    launcher = request.machine.launcher if request.machine else mpi.kind
    if launcher not in _LAUNCHERS:
        raise unknown("launcher", launcher, _LAUNCHERS, "docs/machine-files.md")
    return _LAUNCHERS[launcher](mpi, request)
