"""Slurm's srun, inside an allocation; where the library's own starter can't be used."""

import shutil
import subprocess
from functools import cache

from timpani.errors import UserError
from timpani.machine.launch_request import Command, LaunchRequest
from timpani.machine.places import asked_places
from timpani.native.find import Mpi

_HOSTS = "hosts.txt"
_INTERFACES = {"openmpi": "pmix", "mpich": "pmi2"}
"""How the ranks of each library find each other under srun."""


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Each rank's host is given to srun in a file, which holds for every placement; without binding, and dealt out by
    Slurm, where there are more ranks than cores."""
    interface = _INTERFACES[mpi.kind]
    if interface not in interfaces():
        raise UserError(
            f"srun has no {interface}, by which it would start {mpi.kind}'s ranks as one program",
            "`srun --mpi=list` shows what it has; start with the library's own starter instead: its launcher",
        )
    start = ("srun", f"--mpi={interface}", "--kill-on-bad-exit", f"--ntasks={request.ranks}")
    if request.oversubscribed or request.machine is None:
        where, files = ("--overcommit", "--cpu-bind=none"), {}
    else:
        within = "cyclic" if request.placement == "socket" else "block"
        where = (f"--distribution=arbitrary:{within}", "--cpu-bind=cores")
        places = asked_places(request.machine, request.hosts, request.placement, request.ranks)
        files = {_HOSTS: "".join(f"{place.host}\n" for place in places)}
    hosts = {"SLURM_HOSTFILE": str(request.folder / _HOSTS)} if files else {}
    return Command(
        argv=(*start, *where, *request.program),
        environment={**hosts, **_variables(request.arguments), **request.environment},  # srun passes its own on
        files=files,
    )


def _variables(arguments: tuple[str, ...]) -> dict[str, str]:
    """What mpirun would read, `--mca NAME VALUE`, as the variables by which Open MPI's ranks read it themselves."""
    return {f"OMPI_MCA_{name}": value for name, value in zip(arguments[1::3], arguments[2::3], strict=True)}


@cache
def interfaces() -> frozenset[str]:
    """What `srun --mpi` takes here."""
    srun = shutil.which("srun")
    if srun is None:
        return frozenset()
    listed = subprocess.run([srun, "--mpi=list"], capture_output=True, text=True, check=False)
    return frozenset((listed.stdout + listed.stderr).split())
