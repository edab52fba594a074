"""Operations other than collectives: messages, sums inside a rank and setups, each with one way; and transposes."""

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions
from timpani.native.mpi import Mpi
from timpani.study.cell import DEFAULT, OWN
from timpani.study.operations import OPERATIONS, Operation
from timpani.version import __version__

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
