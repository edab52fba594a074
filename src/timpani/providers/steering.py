"""Settings in a user's environment that choose algorithms, and would rule what is measured as the default."""

import re
from collections.abc import Iterable

from timpani.native.find import Kind

# Open MPI: which collective components there are, and what they are told. MPICH: algorithms, the compositions above
# them, and where either comes from.
_STEERS: dict[Kind, re.Pattern[str]] = {
    "openmpi": re.compile(r"OMPI_MCA_coll(_\w+)?"),
    "mpich": re.compile(
        r"MPIR_CVAR_(\w+_ALGORITHM|\w+_COMPOSITION|DEVICE_COLLECTIVES|COLLECTIVE_FALLBACK|COLL_SELECTION_\w+)"
    ),
}


def steering(kind: Kind, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of such a library; launches go without them."""
    return tuple(sorted(name for name in names if _STEERS[kind].fullmatch(name)))
