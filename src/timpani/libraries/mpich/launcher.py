"""MPICH's mpiexec (Hydra)."""

from timpani.libraries.hydra import hydra_command, per_node
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.native.mpi import Mpi

# Polling ranks that share a core hinder each other; throttled they are five times faster, though still slow.
_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and throttled where there are more ranks than cores."""
    placed = per_node(request.placement)
    if request.oversubscribed:
        return hydra_command(mpi, request, ("-bind-to", "none", *placed), _OVERSUBSCRIBED)
    return hydra_command(mpi, request, ("-bind-to", "core", *(placed or ("-map-by", request.placement))), {})
