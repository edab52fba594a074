"""What Intel MPI and its launcher read outside Timpani: variables, and the launcher's configuration files."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.libraries.hydra import settings_of_file, variables
from timpani.libraries.mpich import settings as mpich
from timpani.libraries.outside_setting import OutsideSetting
from timpani.native.mpi import Mpi

OVERRIDES = re.compile(rf"I_MPI_(ADJUST_\w+|TUNING\w*|COLL_\w+)|{mpich.OVERRIDES.pattern}")
"""Presets, the tables that they are chosen by, and the variables of MPICH, which Intel MPI is built from."""

_VARIABLE = re.compile(r"(I_MPI|MPIR_CVAR|HYDRA|UCX|FI)_\w+|LD_PRELOAD")


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """The launcher (2021.18, observed) reads all of its configuration files that exist."""
    folders = (
        mpi.mpirun.resolve().parent.parent / "intel64" / "etc" / "mpiexec.conf",
        Path(environment.get("HOME", "/")) / ".mpiexec.conf",
        Path.cwd() / "mpiexec.conf",
    )
    for path in folders:
        yield from settings_of_file(path, OVERRIDES)
    set_by_timpani = dict(mpi.environment)
    yield from variables({name: value for name, value in environment.items() if name not in set_by_timpani}, _VARIABLE)
