"""The question that every MPI library answers in its own way: what do you offer, and how is one algorithm forced?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from timpani.native.find import Mpi
from timpani.providers.catalogue import Catalogue, Offer
from timpani.study.cell import Algorithm


@dataclass(frozen=True)
class Forcing:
    """How a launch and a cell make the library run one algorithm.

    arguments    to mpirun, for the whole launch
    environment  of the whole launch
    controls     MPI_T control variables, written before the communicator is duplicated: inside one launch

    Cells whose arguments and environment are equal can share a launch.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    controls: tuple[tuple[str, int], ...] = ()


class Provider(Protocol):
    """One kind of MPI library."""

    def catalogue(self, mpi: Mpi) -> Catalogue:
        """What `mpi` offers, asked of the installed library."""
        ...

    def forcing(self, mpi: Mpi, offer: Offer | None, algorithm: Algorithm) -> Forcing:
        """How `mpi` is made to run `offer` with the parameters of `algorithm`; None is the default: nothing set."""
        ...
