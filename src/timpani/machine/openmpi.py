"""Open MPI's mpirun, 4.1 and later."""

import os

from timpani.machine.launch_request import Command, LaunchRequest
from timpani.native.find import Mpi

_ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and yielding where there are more ranks than cores."""
    if request.oversubscribed:
        # Without yielding, a rank that waits keeps its core from the rank it waits for until the scheduler's tick.
        where = ["--map-by", f"{request.placement}:OVERSUBSCRIBE", "--bind-to", "none"]
        where += ["--mca", "mpi_yield_when_idle", "1"]
    else:
        where = ["--map-by", request.placement, "--bind-to", "core"]
    exports = [part for name in request.environment for part in ("-x", name)]  # to ranks on other nodes too
    return Command(
        argv=(str(mpi.mpirun), "-np", str(request.ranks), *where, *exports, *request.arguments, *request.program),
        environment={**(_ALLOW_ROOT if os.geteuid() == 0 else {}), **request.environment},
    )
