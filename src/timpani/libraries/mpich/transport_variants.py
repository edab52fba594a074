"""The transports of an installed MPICH, as variants that compete with the default.

`mpichversion` shows the device with its network modules, the first of which is the default, and how it was configured.
The descriptions of MPICH's control variables (4.0.2 and 5.0.2, read through MPI_T) say what each variable does.
"""

import re
import subprocess
from collections.abc import Iterable

from timpani.libraries.library import OfferedVariants
from timpani.libraries.mpich.control_variables import Variable, control_variables
from timpani.native.mpi import Mpi

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
