"""What Intel MPI and its launcher read outside Timpani: variables, and the launcher's configuration files."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.libraries.hydra import settings_of_file
from timpani.libraries.mpich import settings as mpich
from timpani.libraries.outside_setting import OutsideSetting, variables
from timpani.libraries.taken_settings import InstalledSettings
from timpani.native.mpi import Mpi

OVERRIDES = re.compile(rf"I_MPI_(ADJUST_\w+|TUNING\w*|COLL_\w+)|{mpich.OVERRIDES.pattern}")
"""Presets, the tables that they are chosen by, and the variables of MPICH, which Intel MPI is built from."""

_PREFIX = "I_MPI_"
_ALIASES = re.compile(r"@Alias:# *(?P<names>[\w, ]+)")
"""In the description of a control variable, the environment variables that set it (2021.1 to 2021.19, observed)."""

_VARIABLE = re.compile(r"(I_MPI|MPIR_CVAR|HYDRA|UCX|FI)_\w+|LD_PRELOAD")


def control(name: str) -> str | None:
    """The control variable that a variable sets: `names_of_control` has the names that begin with I_MPI."""
    return name if name.startswith(_PREFIX) else mpich.control(name)


def names_of_control(description: str) -> list[str]:
    """The environment variables that set the control variable with this description."""
    match = _ALIASES.search(description)
    return [name for name in re.split(r"[\s,]+", match["names"]) if name.startswith(_PREFIX)] if match else []


def installed_settings(mpi: Mpi, environment: Mapping[str, str]) -> InstalledSettings:
    """The variables that the launcher's program names: it reads some that no control variable of the library shows."""
    names = re.findall(rf"{_PREFIX}\w+".encode(), mpi.mpirun.read_bytes())
    return InstalledSettings({name.decode(): "the launcher" for name in names})


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """The launcher (2021.18, observed) reads all of its configuration files that exist."""
    folders = (
        mpi.mpirun.resolve().parent.parent / "intel64" / "etc" / "mpiexec.conf",
        Path(environment.get("HOME", "/")) / ".mpiexec.conf",
        Path.cwd() / "mpiexec.conf",
    )
    for path in folders:
        yield from settings_of_file(path, OVERRIDES)
    set_by_user = {name: value for name, value in environment.items() if name not in dict(mpi.environment)}
    yield from variables(set_by_user, _VARIABLE, OVERRIDES)
