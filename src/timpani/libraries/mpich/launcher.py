"""MPICH's mpiexec (Hydra)."""

from timpani.libraries.hydra import hydra_command
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.native.mpi import Mpi
from timpani.study.placement import ranks_per_node

_WHERE = {
    "core": ("-bind-to", "core", "-map-by", "core"),
    "socket": ("-bind-to", "core", "-map-by", "socket"),
    "node": ("-bind-to", "core", "-ppn", "1"),
}
# Polling ranks that share a core hinder each other; throttled they are five times faster, though still slow.
_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and throttled where there are more ranks than cores."""
    return hydra_command(mpi, request, _host_options(request), _OVERSUBSCRIBED if request.oversubscribed else {})


def _host_options(request: LaunchRequest) -> tuple[str, ...]:
    count = ranks_per_node(request.placement)
    if request.oversubscribed:
        each = 1 if request.placement == "node" else count
        return "-bind-to", "none", *(("-ppn", str(each)) if each else ())
    return ("-bind-to", "core", "-ppn", str(count)) if count else _WHERE[request.placement]
