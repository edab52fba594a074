"""The parameters and components of an installed Open MPI, as ompi_info lists them."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from timpani.libraries.openmpi.settings import ask_ompi_info, read_settings
from timpani.libraries.taken_settings import InstalledSettings
from timpani.native.mpi import Mpi

_COMPONENT = re.compile(r"mca:(?P<framework>\w+):(?P<component>\w+):version:.*")
_VARIABLE = "OMPI_MCA_"
_PREFERENCE = re.compile(r"coll_(?P<component>\w+)_(priority|enable)")

# `self` carries messages of a process to itself.
_EAGER_LIMIT = re.compile(
    r"mca:btl:(?!self)\w+:param:(?P<name>btl_\w+_(?:eager_limit|max_send_size|memcpy_limit)):value:(?P<value>\d+)"
)


def installed_settings(mpi: Mpi, environment: Mapping[str, str]) -> InstalledSettings:
    """What ompi_info finds in `environment`; nothing without ompi_info."""
    listed = ask_ompi_info(mpi, "--all", environment=environment)
    return InstalledSettings(
        {name: each.source for name, each in read_settings(listed).items()}, listed_components(listed)
    )


@cache
def components_of(mpi: Mpi) -> Mapping[str, frozenset[str]]:
    """By framework, such as `coll`, the components that are installed; none without ompi_info."""
    return listed_components(ask_ompi_info(mpi))


def ahead_of_tuned(mpi: Mpi) -> tuple[str, ...]:
    """Installed components of NVIDIA's, as in HPC-X, that take collectives from `tuned`: hcoll has the priority 90."""
    return tuple(name for name in ("hcoll", "ucc") if name in components_of(mpi).get("coll", ()))


def listed_components(parsable: str) -> dict[str, frozenset[str]]:
    """By framework, such as `coll`, the components in what `ompi_info --parsable` prints."""
    components: defaultdict[str, set[str]] = defaultdict(set)
    for match in filter(None, map(_COMPONENT.fullmatch, parsable.splitlines())):
        components[match["framework"]].add(match["component"])
    return {name: frozenset(each) for name, each in components.items()}


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """The sizes at which each transport changes its protocol: which one carried a message is unknown."""
    return read_eager_limits(ask_ompi_info(mpi, "--param", "btl", "all"))


def read_eager_limits(parsable: str) -> dict[str, int]:
    """The limits in what `ompi_info --parsable` prints."""
    found = filter(None, map(_EAGER_LIMIT.fullmatch, parsable.splitlines()))
    return {match["name"]: int(match["value"]) for match in found}


def control(name: str) -> str | None:
    """The parameter that a variable sets, or a parameter itself; None of what the library doesn't read."""
    if name.startswith(_VARIABLE):
        return name.removeprefix(_VARIABLE)
    return name if name[:1].islower() else None


def preferred_component(name: str, default: str, value: str) -> str | None:
    """The component of collectives that a higher priority prefers, or that is switched on."""
    match = _PREFERENCE.fullmatch(name)
    try:
        return match["component"] if match and int(value) > int(default) else None
    except ValueError:
        return None
