"""Messages between ranks of choice, sums inside one, what is built once: each has one way, the `default`."""

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions
from timpani.native.mpi import Mpi
from timpani.study.cell import DEFAULT
from timpani.study.operations import OPERATIONS, Operation


def point_to_point_catalogue(mpi: Mpi) -> Catalogue:
    """What `mpi` offers in addition to collectives."""
    algorithms = {
        operation.name: (
            AlgorithmInfo(
                operation.name,
                DEFAULT,
                DEFAULT,
                parameters_of(operation),
                restrictions=Restrictions(min_ranks=operation.min_ranks),
            ),
        )
        for operation in OPERATIONS.values()
        if operation.kind != "collective" and not operation.ways
    }
    return Catalogue(mpi.kind, mpi.version, algorithms)


def parameters_of(operation: Operation) -> tuple[Parameter, ...]:
    """The settings of an operation that is no collective; no variable of a library holds them."""
    return tuple(
        Parameter(each.name, "", each.default_value, each.meaning, each.minimum) for each in operation.parameters
    )
