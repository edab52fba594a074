"""MPICH's mpiexec, its control variables, what both read outside Timpani, and the transports that compete as variants.

`mpichversion` shows the device with its network modules, the first of which is the default, and how it was configured.
The descriptions of MPICH's control variables (4.0.2 and 5.0.2, read through MPI_T by a program that is built for the
library) say what each variable does.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.hydra import hydra_command, per_node, settings_of_file
from timpani.libraries.library import Command, LaunchRequest, OfferedVariants, OutsideSetting, variables
from timpani.native.build import build
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


@dataclass(frozen=True)
class Variable:
    """A control variable, as timpani-discover prints it."""

    name: str
    value: int | None
    description: str


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


# Polling ranks that share a core hinder each other; throttled they are five times faster, though still slow.
_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and throttled where there are more ranks than cores."""
    placed = per_node(request.placement)
    if request.oversubscribed:
        return hydra_command(mpi, request, ("-bind-to", "none", *placed), _OVERSUBSCRIBED)
    return hydra_command(mpi, request, ("-bind-to", "core", *(placed or ("-map-by", request.placement))), {})


_DEVICE = re.compile(r"MPICH Device:\s*ch4:(?P<modules>[\w ,]+)")
_NETWORK_MODULE = "MPIR_CVAR_CH4_NETMOD"
_NO_SHARED_MEMORY = "MPIR_CVAR_NOLOCAL"
_SHARED_MEMORY_MODULE = "MPIR_CVAR_CH4_SHM_POSIX_EAGER"
_MODULES_VARIABLE = re.compile(r"MPIR_CVAR_CH4_SHM_POSIX_(?P<module>[A-Z]+)_NUM_CELLS")
"""Each module of shared memory has such a variable; nothing lists the modules."""
_CMA = "MPIR_CVAR_CH4_CMA_ENABLE"
_XPMEM = "MPIR_CVAR_CH4_XPMEM_ENABLE"
_KNOWN_MODULES = ("ucx", "ofi")


def offered_variants(mpi: Mpi) -> dict[str, OfferedVariants]:
    """The `transports` that `mpichversion` and the control variables show; nothing without `mpichversion`."""
    if mpi.info is None:
        return {}
    answer = subprocess.run([str(mpi.info)], capture_output=True, text=True, check=False, errors="replace")
    return {"transports": transports(answer.stdout, control_variables(mpi, {}))}


def transports(version: str, variables: Iterable[Variable]) -> OfferedVariants:
    """A variant for each further network module, for messages without shared memory, and without each single copy.

    version  what `mpichversion` prints
    """
    values = {each.name: each.value for each in variables}
    match = _DEVICE.search(version)
    first, *others = re.split(r"[\s,]+", match["modules"].strip()) if match else [""]
    variants: dict[str, str] = {}
    left_out = {name: "not in this library" for name in _KNOWN_MODULES if name not in (first, *others)}
    if first:
        left_out[first] = "in force by default"
    if _NETWORK_MODULE in values:
        variants |= {name: f"{_NETWORK_MODULE}={name}" for name in others}
    if _NO_SHARED_MEMORY in values:
        variants["no-shared-memory"] = f"{_NO_SHARED_MEMORY}=1"
    modules = sorted(match["module"].lower() for match in map(_MODULES_VARIABLE.fullmatch, values) if match)
    if len(modules) == 1:
        left_out[modules[0]] = "the only module of shared memory"
    elif _SHARED_MEMORY_MODULE in values:
        variants |= {name: f"{_SHARED_MEMORY_MODULE}={name}" for name in modules}
    if values.get(_CMA):
        variants["no-cma"] = f"{_CMA}=0"
    else:
        left_out["no-cma"] = "off by default" if _CMA in values else "not in this library"
    if values.get(_XPMEM) and "--with-xpmem" in version:
        variants["no-xpmem"] = f"{_XPMEM}=0"
    else:
        left_out["no-xpmem"] = "its configuration names no XPMEM"
    return OfferedVariants(variants, left_out)


_EAGER_LIMIT = re.compile(r"MPIR_CVAR_CH4_\w*EAGER\w*")


def control_variables(mpi: Mpi, settings: Mapping[str, str]) -> list[Variable]:
    """The library's control variables in an environment with `settings`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MPIR_CVAR_")}
    answer = subprocess.run(
        [build(mpi) / "timpani-discover"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, **settings},
    )
    if answer.returncode != 0:
        raise UserError(
            f"{mpi} can't start a single process: {answer.stderr.strip()}", f"try `{mpi.mpirun} -n 1 hostname`"
        )
    return read_variables(answer.stdout)


def read_variables(lines: str) -> list[Variable]:
    """The control variables that timpani-discover printed."""
    objects = (json.loads(line) for line in lines.splitlines())
    return [Variable(each["name"], each.get("value"), each["description"]) for each in objects]


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """The message sizes at which the library changes its protocol, by the control variable's name."""
    variables = control_variables(mpi, {})
    return {each.name: each.value for each in variables if each.value is not None and _EAGER_LIMIT.fullmatch(each.name)}
