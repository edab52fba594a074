"""The message sizes at which a library itself changes its protocol, asked of the library that is installed."""

import os
import re
import subprocess

from timpani.errors import UserError
from timpani.native.find import Mpi, find_mpis
from timpani.providers.mpich import control_variables

# Open MPI's transports; `self` carries messages of a process to itself.
_OPENMPI = re.compile(
    r"mca:btl:(?!self)\w+:param:(?P<name>btl_\w+_(?:eager_limit|max_send_size|memcpy_limit)):value:(?P<value>\d+)"
)
_MPICH = re.compile(r"MPIR_CVAR_CH4_\w*EAGER\w*")


def eager_limits(kind: str, version: str) -> dict[str, int]:
    """Bytes of each limit by the library's name for it; none where no such library is found here or it doesn't tell.

    Which transport carried a message isn't known: the limits of all are there, with their present settings.
    """
    for mpi in find_mpis():
        if (mpi.kind, mpi.version) == (kind, version):
            try:
                limits = _of_openmpi(mpi) if mpi.kind == "openmpi" else _of_mpich(mpi)
            except (UserError, OSError):  # a fit is worth having without them
                return {}
            return {name: limit for name, limit in sorted(limits.items()) if limit > 0}
    return {}


def _of_openmpi(mpi: Mpi) -> dict[str, int]:
    if mpi.info is None:
        return {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_coll_")}
    ask = ("--param", "btl", "all", "--level", "9", "--parsable")
    answer = subprocess.run([mpi.info, *ask], capture_output=True, text=True, check=False, env=environment)
    return read_openmpi(answer.stdout)


def read_openmpi(parsable: str) -> dict[str, int]:
    """The limits in what `ompi_info --parsable` prints."""
    found = filter(None, map(_OPENMPI.fullmatch, parsable.splitlines()))
    return {match["name"]: int(match["value"]) for match in found}


def _of_mpich(mpi: Mpi) -> dict[str, int]:
    variables = control_variables(mpi, {})
    return {each.name: each.value for each in variables if each.value is not None and _MPICH.fullmatch(each.name)}
