"""The fabrics of Intel MPI, as variants that compete with the default.

`I_MPI_FABRICS` takes `shm:ofi` (the default), `ofi` or `shm`: Intel MPI Library Developer Reference for Linux, 2021.7,
Communication Fabrics Control. `shm` connects ranks of one node only.
"""

from timpani.libraries.library import OfferedVariants
from timpani.native.mpi import Mpi

_FABRICS = "I_MPI_FABRICS"


def offered_variants(mpi: Mpi) -> dict[str, OfferedVariants]:
    """`transports`: the network for all messages, or shared memory alone."""
    variants = {name: f"{_FABRICS}={name}" for name in ("ofi", "shm")}
    return {"transports": OfferedVariants(variants, {"shm:ofi": "in force by default"})}
