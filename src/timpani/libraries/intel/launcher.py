"""Intel MPI's mpiexec.hydra."""

from timpani.libraries.hydra import hydra_command, per_node
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.native.mpi import Mpi

# Its launcher takes -bind-to and heeds it not: what binds is read by the ranks (ran on 2021.18).
_BOUND = {"I_MPI_PIN_DOMAIN": "core"}
_ORDER = {"core": "compact", "socket": "scatter"}
"""Cores that are neighbors share the most, or the least."""

# Ranks that share a core wait asleep: without, each keeps its core from the rank that it waits for.
_OVERSUBSCRIBED = {"I_MPI_PIN": "0", "I_MPI_WAIT_MODE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and sleeping while they wait where there are more ranks than cores.

    Without a list of hosts it looks this computer up by its name, and fails where that has no address.
    """
    order = {"I_MPI_PIN_ORDER": _ORDER.get(request.placement, "compact")}
    waiting = _OVERSUBSCRIBED if request.oversubscribed else {**_BOUND, **order}
    return hydra_command(mpi, request, per_node(request.placement), waiting, without_hosts=("-hosts", "localhost"))
