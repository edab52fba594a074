"""MPICH's mpiexec (Hydra)."""

from timpani.machine.launch_request import Command, LaunchRequest
from timpani.native.find import Mpi

_WHERE = {
    "core": ("-bind-to", "core", "-map-by", "core"),
    "socket": ("-bind-to", "core", "-map-by", "socket"),
    "node": ("-bind-to", "core", "-ppn", "1"),
}
# Polling ranks that share a core hinder each other; throttled they are five times faster, though still slow.
_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and throttled where there are more ranks than cores."""
    where = ("-bind-to", "none") if request.oversubscribed else _WHERE[request.placement]
    environment = {**(_OVERSUBSCRIBED if request.oversubscribed else {}), **request.environment}
    exports = [part for name, value in environment.items() for part in ("-genv", name, value)]
    return Command(
        argv=(str(mpi.mpirun), "-n", str(request.ranks), *where, *exports, *request.arguments, *request.program),
        environment={},
    )
