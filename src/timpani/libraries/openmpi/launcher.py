"""Open MPI's mpirun, 4.1 and later."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.hosts import host_file
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.openmpi.remains import REPORT
from timpani.native.mpi import Mpi
from timpani.study.placement import ranks_per_node

HOST_WITH_SLOTS = "{} slots={}"

_HOSTS = "hosts.txt"
_VARIABLE_LIST = "mca_base_env_list"
_ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and yielding where there are more ranks than cores."""
    hosts = ("--hostfile", str(request.folder / _HOSTS)) if request.hosts else ()
    report = ("--report-uri", str(request.folder / REPORT)) if request.folder != Path() else ()
    count = ranks_per_node(request.placement)
    by = f"ppr:{count}:node" if count else request.placement
    if request.oversubscribed:
        # Open MPI 5.0 keeps ranks that it maps by core or socket on the first node, however many they are.
        by = "slot" if by in ("core", "socket") else by
        # Without yielding, a rank that waits keeps its core from the rank it waits for until the scheduler's tick.
        where = ["--map-by", f"{by}:OVERSUBSCRIBE", "--bind-to", "none"]
        where += arguments([("mpi_yield_when_idle", "1")])
    else:
        where = ["--map-by", by, "--bind-to", "core"]
    # To ranks on other nodes too, and not to the launcher: what is loaded before a library is not for it.
    exports = [part for item in request.environment.items() for part in export(*item)]
    return Command(
        argv=(
            *(str(mpi.mpirun), *report, *hosts, "-np", str(request.ranks), *where),
            *(*exports, *arguments(request.parameters), *request.arguments, *request.program),
        ),
        environment=_ALLOW_ROOT if os.geteuid() == 0 else {},
        files={_HOSTS: host_file(request.hosts, HOST_WITH_SLOTS)} if request.hosts else {},
    )


def arguments(parameters: Iterable[tuple[str, str]]) -> list[str]:
    """MCA parameters as mpirun takes them."""
    return [word for name, value in parameters for word in ("--mca", name, value)]


def export(name: str, value: str) -> tuple[str, ...]:
    """What hands a variable to the ranks of one program."""
    return "-x", f"{name}={value}"


def check_export(mpi: Mpi, command: Sequence[str], environment: Mapping[str, str]) -> None:
    """UserError if the user passes variables by Open MPI's list: 4.1 ends a start with `-x` then (4.1.4, observed)."""
    if (_VARIABLE_LIST in command or f"OMPI_MCA_{_VARIABLE_LIST}" in environment) and mpi.numbers < (5,):
        raise UserError(
            f"{mpi.title} refuses {_VARIABLE_LIST} together with -x, by which Timpani passes LD_PRELOAD",
            "pass your variables by -x",
        )


def rank_line(rank: int, host: str, socket: int | None, core: int) -> str:
    """A line of a rank file: 4.1 takes it as `--rankfile FILE`, 5 as `--map-by rankfile:file=FILE`."""
    return f"rank {rank}={host} slot={core if socket is None else f'{socket}:{core}'}"
