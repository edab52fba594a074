"""Which provider speaks for which library."""

from timpani.native.find import Mpi
from timpani.providers.mpich import Mpich
from timpani.providers.openmpi import OpenMpi
from timpani.providers.provider import Provider
from timpani.providers.simgrid import SimGrid

_PROVIDERS: dict[str, Provider] = {"openmpi": OpenMpi(), "mpich": Mpich(), "simgrid": SimGrid()}


def provider_of(mpi: Mpi) -> Provider:
    """The provider for the kind of `mpi`."""
    return _PROVIDERS[mpi.kind]
