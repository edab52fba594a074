"""Settings in a user's environment that choose algorithms, and would rule what is measured as the default."""

from collections.abc import Iterable

from timpani.native.find import Mpi
from timpani.providers.registry import provider_of


def steering(mpi: Mpi, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of `mpi`; launches go without them."""
    return tuple(sorted(name for name in names if provider_of(mpi).steers.fullmatch(name)))
