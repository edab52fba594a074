"""The message sizes at which Open MPI's transports change their protocol, as `ompi_info` lists them."""

import os
import re

from timpani.libraries.openmpi.settings import ask_ompi_info
from timpani.native.mpi import Mpi

# `self` carries messages of a process to itself.
_LIMIT = re.compile(
    r"mca:btl:(?!self)\w+:param:(?P<name>btl_\w+_(?:eager_limit|max_send_size|memcpy_limit)):value:(?P<value>\d+)"
)


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """Those of all transports: which one carried a message is unknown."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_coll_")}
    return read_eager_limits(ask_ompi_info(mpi, "--param", "btl", "all", environment=environment))


def read_eager_limits(parsable: str) -> dict[str, int]:
    """The limits in what `ompi_info --parsable` prints."""
    found = filter(None, map(_LIMIT.fullmatch, parsable.splitlines()))
    return {match["name"]: int(match["value"]) for match in found}
