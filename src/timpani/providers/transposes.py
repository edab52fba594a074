"""The ways in which a matrix is transposed between ranks, and what they are held against; all of them ours."""

from timpani import __version__
from timpani.providers.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions
from timpani.study.cell import OWN
from timpani.study.operations import PLAIN_MESSAGE

_ROWS = Parameter("rows", "", 0, "rows of the matrix; 0: the largest divisor of its elements up to their square root")
_PAIR = Restrictions(fewest_ranks=2)
_ANY = Restrictions()

_WAYS: dict[str, tuple[Restrictions, str]] = {
    "column_by_column": (_PAIR, "a message for each column, described by a datatype"),
    "nested_datatype": (_PAIR, "one message, all columns described by one datatype"),
    "packed": (_PAIR, "one message of elements that the program itself has put in order"),
    PLAIN_MESSAGE: (_PAIR, "the same bytes in one message, not transposed"),
    "local_copy": (_ANY, "in one rank's own memory by the nested datatype"),
    "local_memcpy": (_ANY, "copied in one rank's own memory, not transposed"),
    "alltoall": (_ANY, "rows dealt out over all ranks, before and after; one exchange of equal blocks"),
    "alltoallv": (_ANY, "the same for any shape"),
}


def transposes_catalogue() -> Catalogue:
    """All ways; none of them is a library's default."""
    algorithms = tuple(
        AlgorithmInfo("transpose", name, name, (_ROWS,), restrictions=restrictions, source=what)
        for name, (restrictions, what) in _WAYS.items()
    )
    return Catalogue(OWN, __version__, {"transpose": algorithms})
