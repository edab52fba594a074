"""Settings in a user's environment that choose algorithms, and would rule what is measured as the default."""

import re
from collections.abc import Iterable

from timpani.native.find import Mpi
from timpani.providers.registry import provider_of

_OF_OURS = re.compile(r"TIMPANI_(RULES|OFF|GROUPS|TRACE|PROFILE)")
"""What `libtimpani.so` reads where it is preloaded."""


def steering(mpi: Mpi, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of `mpi` or ours; launches go without them."""
    steers = provider_of(mpi).steers
    return tuple(sorted(name for name in names if steers.fullmatch(name) or _OF_OURS.fullmatch(name)))
