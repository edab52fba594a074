"""Intel MPI's mpiexec.hydra, what it and the library read outside Timpani, and the fabrics that compete as variants.

`I_MPI_FABRICS` takes `shm:ofi` (the default), `ofi` or `shm`, which connects ranks of one node only;
`I_MPI_OFI_PROVIDER` names the provider of the network (Intel MPI Library Developer Reference for Linux, 2021.7,
Communication Fabrics Control). Each provider is a file of the installation.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.libraries.hydra import hydra_command, per_node, settings_of_file
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.library import OfferedVariants
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


# Its launcher takes -bind-to and heeds it not: what binds is read by the ranks (ran on 2021.18).
_BOUND = {"I_MPI_PIN_DOMAIN": "core"}
_ORDER = {"core": "compact", "socket": "scatter"}
"""Cores that are neighbors share the most, or the least."""

# Ranks that share a core wait asleep: without, each keeps its core from the rank that it waits for.
_OVERSUBSCRIBED = {"I_MPI_PIN": "0", "I_MPI_WAIT_MODE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and sleeping while they wait where there are more ranks than cores.

    Without a list of hosts it looks this computer up by its name, and fails where that has no address.
    """
    order = {"I_MPI_PIN_ORDER": _ORDER.get(request.placement, "compact")}
    waiting = _OVERSUBSCRIBED if request.oversubscribed else {**_BOUND, **order}
    return hydra_command(mpi, request, per_node(request.placement), waiting, without_hosts=("-hosts", "localhost"))


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
