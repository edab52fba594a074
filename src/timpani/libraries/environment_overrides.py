"""Variables in a user's environment that would decide what is measured as the default."""

import re
from collections.abc import Iterable, Mapping

from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

_TIMPANIS = re.compile(r"TIMPANI_(RULES|OFF|GROUPS|TRACE|PROFILE)")
"""What `libtimpani.so` reads where it is preloaded."""

_OF_LIBRARIES = re.compile(
    r"(OMPI|PRTE|PMIX)_MCA_\w+|(MPIR_CVAR|MPIR_PARAM|MPICH|I_MPI|UCX|UCC|HCOLL|FI)_\w+|HYDRA_CONFIG_FILE"
)
"""Variables that set a library or its transports."""

_PLACES = frozenset({"I_MPI_ROOT", "FI_PROVIDER_PATH"})
"""Variables that say where a library is installed."""


def library_variables(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that set any library or its transports, without places of installation."""
    return tuple(sorted(name for name in names if _OF_LIBRARIES.fullmatch(name) and name not in _PLACES))


def clean_environment(mpi: Mpi, environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without the user's settings of libraries, and with what keeps `mpi` from the user's files."""
    left_out = library_variables(environment)
    kept = {name: value for name, value in environment.items() if name not in left_out}
    return {**kept, **LIBRARIES[mpi.kind].without_own_files(mpi, kept)}


def environment_overrides(mpi: Mpi, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of `mpi` or Timpani's; launches go without them."""
    overrides = LIBRARIES[mpi.kind].overrides
    return tuple(sorted(name for name in names if overrides.fullmatch(name) or _TIMPANIS.fullmatch(name)))
