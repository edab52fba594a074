"""All algorithms that can be measured on an MPI library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from timpani.libraries.catalogue import (
    AlgorithmInfo,
    Catalogue,
    Parameter,
    Parameters,
    Restrictions,
    composed_catalogue,
    remember_names,
)
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.slices import Hook
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.operations import OPERATIONS, Operation
from timpani.version import __version__

_BUILT_IN: Hook[Callable[[Mpi | None], Catalogue]] = Hook("BUILT_IN_ALGORITHMS")


def built_in_catalogue(mpi: Mpi | None) -> Catalogue:
    """Timpani's algorithms in the programs built for `mpi`, or without a library; none without the slice that has
    them."""
    return next((listed(mpi) for listed in _BUILT_IN.added()), Catalogue(OWN, __version__, {}))


@dataclass(frozen=True)
class AvailableAlgorithms:
    """All algorithms on an installed library: its own and Timpani's.

    collectives     of the library, one of which it chooses by default
    built_in        Timpani's, run on it with nothing set
    composed        composed of its collectives, with nothing set
    point_to_point  operations that have one way only
    transposes      all of them Timpani's
    """

    mpi: Mpi
    library: Library
    collectives: Catalogue
    built_in: Catalogue
    composed: Catalogue
    point_to_point: Catalogue
    transposes: Catalogue

    @classmethod
    def ask(cls, mpi: Mpi) -> Self:
        """Ask `mpi`, and the programs built for it, what there is."""
        library = LIBRARIES[mpi.kind]
        collectives = library.algorithms.catalogue(mpi)
        remember_names(collectives)
        return cls(
            mpi=mpi,
            library=library,
            collectives=collectives,
            built_in=built_in_catalogue(mpi),
            composed=composed_catalogue(),
            point_to_point=point_to_point_catalogue(mpi),
            transposes=transposes_catalogue(),
        )

    @property
    def catalogues(self) -> tuple[Catalogue, ...]:
        """All of them."""
        return self.collectives, self.built_in, self.composed, self.point_to_point, self.transposes

    def catalogues_of(self, operation: str) -> dict[str, Catalogue]:
        """By provider those that have algorithms of an operation; the library's first."""
        kind = OPERATIONS[operation].kind
        theirs = self.collectives if kind == "collective" else self.point_to_point
        built_in = self.transposes if kind == "transpose" else self.built_in
        return {each.provider: each for each in (theirs, built_in, self.composed)}

    def setting(self, collective: str, algorithm: Algorithm) -> tuple[str, Parameters] | None:
        """What starts a program with a collective's algorithm outside Timpani; None where nothing does.

        Shell text before the launcher, and parameters of the library.

        The default needs nothing. Timpani's algorithms replace a library's collectives by rules. Compositions of a
        library's collectives a program has to make itself.
        """
        if algorithm.name == DEFAULT:
            return "", ()
        if OPERATIONS[collective].kind != "collective" or algorithm.provider == COMPOSED:
            return None
        if algorithm.provider == OWN:
            return None if self.library.launcher.simulates else ("timpani preload --rules FILE --", ())
        info = self.collectives.info(collective, algorithm)
        return ("", self.library.settings.setting(self.mpi, info, algorithm)) if info else None


_OTHERS = [operation for operation in OPERATIONS.values() if operation.kind != "collective"]


def point_to_point_catalogue(mpi: Mpi) -> Catalogue:
    """What `mpi` offers in addition to collectives."""
    algorithms = {each.name: (_info(each, DEFAULT),) for each in _OTHERS if not each.ways}
    return Catalogue(mpi.kind, mpi.version, algorithms, name=mpi.name)


def transposes_catalogue() -> Catalogue:
    """The ways in which a matrix is transposed, and what they are compared with: all Timpani's, without a default."""
    transposes = (each for each in _OTHERS if each.ways)
    algorithms = {
        each.name: tuple(_info(each, way.name, way.min_ranks, way.meaning) for way in each.ways) for each in transposes
    }
    return Catalogue(OWN, __version__, algorithms)


def _info(operation: Operation, name: str, min_ranks: int | None = None, source: str = "") -> AlgorithmInfo:
    """One way of an operation. No variable of a library holds its settings."""
    parameters = tuple(
        Parameter(each.name, "", each.default_value, each.meaning, each.minimum) for each in operation.parameters
    )
    restrictions = Restrictions(min_ranks=operation.min_ranks if min_ranks is None else min_ranks)
    return AlgorithmInfo(operation.name, name, name, parameters, restrictions=restrictions, source=source)
