"""Variables in a user's environment that choose algorithms, and would decide what is measured as the default."""

import re
from collections.abc import Iterable

from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

_OF_OURS = re.compile(r"TIMPANI_(RULES|OFF|GROUPS|TRACE|PROFILE)")
"""What `libtimpani.so` reads where it is preloaded."""


def environment_overrides(mpi: Mpi, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of `mpi` or ours; launches go without them."""
    overrides = LIBRARIES[mpi.kind].overrides
    return tuple(sorted(name for name in names if overrides.fullmatch(name) or _OF_OURS.fullmatch(name)))
