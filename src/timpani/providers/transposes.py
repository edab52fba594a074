"""The ways in which a matrix is transposed between ranks, and what they are compared with; all are Timpani's."""

from timpani import __version__
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Restrictions
from timpani.providers.point_to_point import parameters_of
from timpani.study.cell import OWN
from timpani.study.operations import OPERATIONS


def transposes_catalogue() -> Catalogue:
    """All ways; none of them is a library's default."""
    algorithms = {
        operation.name: tuple(
            AlgorithmInfo(
                operation.name,
                way.name,
                way.name,
                parameters_of(operation),
                restrictions=Restrictions(min_ranks=way.min_ranks),
                source=way.meaning,
            )
            for way in operation.ways
        )
        for operation in OPERATIONS.values()
        if operation.ways
    }
    return Catalogue(OWN, __version__, algorithms)
