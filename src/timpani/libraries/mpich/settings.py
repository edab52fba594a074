"""What MPICH and its launcher read outside Timpani: variables, and the launcher's configuration file."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.libraries.hydra import settings_of_file
from timpani.libraries.outside_setting import OutsideSetting, variables
from timpani.native.mpi import Mpi

OVERRIDES = re.compile(
    r"(MPIR_CVAR|MPIR_PARAM|MPICH)_"
    r"\w*(ALGORITHM|COMPOSITION|COLL|BCAST|REDUCE|GATHER|SCATTER|SCAN|ALLTOALL|BARRIER)\w*"
)
"""Variables of collectives: algorithms, compositions, thresholds and selection files. The library reads each variable
under three prefixes."""

_CONTROL = re.compile(r"(MPIR_CVAR|MPIR_PARAM|MPICH)_(?P<name>\w+)")

_CONFIGURATION = "HYDRA_CONFIG_FILE"
"""The variable that names the launcher's configuration file; it comes before the user's and the installation's."""

_VARIABLE = re.compile(r"(MPIR_CVAR|MPIR_PARAM|MPICH|MPIEXEC|HYDRA|UCX|FI)_\w+|LD_PRELOAD")


def control(name: str) -> str | None:
    """The control variable that a variable sets, which the library reads under three prefixes."""
    match = _CONTROL.fullmatch(name)
    return f"MPIR_CVAR_{match['name']}" if match else None


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """Of the configuration files the launcher reads the first that exists."""
    places = (Path(environment.get(_CONFIGURATION, "")), _own_file(environment), _site_file(mpi))
    if read := next((place for place in places if place.exists() and not place.is_dir()), None):
        yield from settings_of_file(read, OVERRIDES)
    yield from variables(environment, _VARIABLE, OVERRIDES)


def without_own_files(mpi: Mpi, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that makes the launcher read the installation's file, or an empty one, in place of the user's."""
    if not _own_file(environment).is_file():
        return {}
    site = _site_file(mpi)
    return {_CONFIGURATION: str(site) if site.is_file() else os.devnull}


def _own_file(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME", "/")) / ".mpiexec.hydra.conf"


def _site_file(mpi: Mpi) -> Path:
    return mpi.mpirun.resolve().parent.parent / "etc" / "mpiexec.hydra.conf"
