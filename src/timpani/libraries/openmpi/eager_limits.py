"""The message sizes at which Open MPI's transports change their protocol, as `ompi_info` lists them."""

import os
import re
import subprocess

from timpani.native.mpi import Mpi

# `self` carries messages of a process to itself.
_LIMIT = re.compile(
    r"mca:btl:(?!self)\w+:param:(?P<name>btl_\w+_(?:eager_limit|max_send_size|memcpy_limit)):value:(?P<value>\d+)"
)


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """Those of all transports: which one carried a message is unknown."""
    if mpi.info is None:
        return {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_coll_")}
    ask = ("--param", "btl", "all", "--level", "9", "--parsable")
    answer = subprocess.run([mpi.info, *ask], capture_output=True, text=True, check=False, env=environment)
    return read_eager_limits(answer.stdout)


def read_eager_limits(parsable: str) -> dict[str, int]:
    """The limits in what `ompi_info --parsable` prints."""
    found = filter(None, map(_LIMIT.fullmatch, parsable.splitlines()))
    return {match["name"]: int(match["value"]) for match in found}
