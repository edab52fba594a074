"""What MPICH and its launcher read outside Timpani: variables, and the launcher's configuration file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.libraries.hydra import settings_of_file, variables
from timpani.libraries.outside_setting import OutsideSetting
from timpani.native.mpi import Mpi

OVERRIDES = re.compile(
    r"(MPIR_CVAR|MPIR_PARAM|MPICH)_"
    r"\w*(ALGORITHM|COMPOSITION|COLL|BCAST|REDUCE|GATHER|SCATTER|SCAN|ALLTOALL|BARRIER)\w*"
)
"""Variables of collectives: algorithms, compositions, thresholds and selection files. The library reads each variable
under three prefixes."""

_CONTROL = re.compile(r"(MPIR_CVAR|MPIR_PARAM|MPICH)_(?P<name>\w+)")

_VARIABLE = re.compile(r"(MPIR_CVAR|MPIR_PARAM|MPICH|MPIEXEC|HYDRA|UCX|FI)_\w+|LD_PRELOAD")


def control(name: str) -> str | None:
    """The control variable that a variable sets, which the library reads under three prefixes."""
    match = _CONTROL.fullmatch(name)
    return f"MPIR_CVAR_{match['name']}" if match else None


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """Of the configuration files the launcher reads the first that exists."""
    places = (
        environment.get("HYDRA_CONFIG_FILE", ""),
        f"{environment.get('HOME', '')}/.mpiexec.hydra.conf",
        str(mpi.mpirun.resolve().parent.parent / "etc" / "mpiexec.hydra.conf"),
    )
    if read := next((place for place in places if place and Path(place).is_file()), None):
        yield from settings_of_file(Path(read), OVERRIDES)
    yield from variables(environment, _VARIABLE)
