"""MPICH's mpiexec (Hydra)."""

from timpani.libraries.hosts import host_file
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.native.mpi import Mpi
from timpani.study.placement import ranks_per_node

HOST_WITH_SLOTS = "{}:{}"

_HOSTS = "hosts.txt"
_WHERE = {
    "core": ("-bind-to", "core", "-map-by", "core"),
    "socket": ("-bind-to", "core", "-map-by", "socket"),
    "node": ("-bind-to", "core", "-ppn", "1"),
}
# Polling ranks that share a core hinder each other; throttled they are five times faster, though still slow.
_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and throttled where there are more ranks than cores."""
    hosts = ("-f", str(request.folder / _HOSTS)) if request.hosts else ()
    throttled = _OVERSUBSCRIBED if request.oversubscribed else {}
    environment = {**throttled, **dict(request.parameters), **request.environment}
    exports = [part for item in environment.items() for part in export(*item)]
    return Command(
        argv=(
            *(str(mpi.mpirun), *hosts, "-n", str(request.ranks), *_where(request)),
            *(*exports, *request.arguments, *request.program),
        ),
        environment={},
        files={_HOSTS: host_file(request.hosts, HOST_WITH_SLOTS)} if request.hosts else {},
    )


def export(name: str, value: str) -> tuple[str, ...]:
    """What hands a variable to all ranks."""
    return "-genv", name, value


def _where(request: LaunchRequest) -> tuple[str, ...]:
    count = ranks_per_node(request.placement)
    if request.oversubscribed:
        each = 1 if request.placement == "node" else count
        return "-bind-to", "none", *(("-ppn", str(each)) if each else ())
    return ("-bind-to", "core", "-ppn", str(count)) if count else _WHERE[request.placement]
