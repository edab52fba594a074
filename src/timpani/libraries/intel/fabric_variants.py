"""The fabrics of an installed Intel MPI, as variants that compete with the default.

`I_MPI_FABRICS` takes `shm:ofi` (the default), `ofi` or `shm`, which connects ranks of one node only;
`I_MPI_OFI_PROVIDER` names the provider of the network (Intel MPI Library Developer Reference for Linux, 2021.7,
Communication Fabrics Control). Each provider is a file of the installation.
"""

import re

from timpani.libraries.library import OfferedVariants
from timpani.native.mpi import Mpi

_FABRICS = "I_MPI_FABRICS"
_PROVIDER = "I_MPI_OFI_PROVIDER"
_FILE = re.compile(r"lib(?P<provider>\w+?)(-[\d.]+)?-fi\.so")
_FOLDERS = ("lib", "lib/prov", "libfabric/lib/prov", "opt/mpi/libfabric/lib/prov")
"""Of the providers: in the wheel, and in oneAPI's releases."""

_NO_NETWORKS = {"rxm": "a layer above other providers", "shm": "shared memory, as the variant shm"}


def offered_variants(mpi: Mpi) -> dict[str, OfferedVariants]:
    """`transports`: shared memory alone, the network for all messages, and each provider for all messages."""
    root = mpi.mpirun.resolve().parent.parent
    files = (_FILE.fullmatch(path.name) for folder in _FOLDERS for path in (root / folder).glob("lib*-fi.so"))
    providers = sorted({match["provider"] for match in files if match})
    variants = {name: f"{_FABRICS}={name}" for name in ("ofi", "shm")}
    variants |= {f"ofi-{name}": f"{_FABRICS}=ofi {_PROVIDER}={name}" for name in providers if name not in _NO_NETWORKS}
    left_out = {f"ofi-{name}": why for name, why in _NO_NETWORKS.items() if name in providers}
    return {"transports": OfferedVariants(variants, {"shm:ofi": "in force by default"} | left_out)}
