"""The ways in which a matrix is transposed between ranks, and what they are held against; all of them ours."""

from timpani import __version__
from timpani.providers.catalogue import Catalogue, Offer, Parameter, Restrictions
from timpani.study.cell import OWN
from timpani.study.operations import PLAIN_MESSAGE

_ROWS = Parameter("rows", "", 0, "rows of the matrix; 0: the largest divisor of its elements up to their square root")
_TWO = Restrictions(fewest_ranks=2, most_ranks=2)
_ONE_OR_TWO = Restrictions(most_ranks=2)
_ANY = Restrictions()

_WAYS: dict[str, tuple[Restrictions, str]] = {
    "column_by_column": (_TWO, "a message for each column, described by a vector datatype"),
    "nested_datatype": (_TWO, "one message; a datatype of columns describes the transposed matrix"),
    "packed": (_TWO, "one message, transposed by hand into a buffer before it is sent"),
    PLAIN_MESSAGE: (_TWO, "one message of the same bytes, not transposed"),
    "local_copy": (_ONE_OR_TWO, "transposed by hand in memory, no message"),
    "local_memcpy": (_ONE_OR_TWO, "copied in memory, not transposed"),
    "alltoall": (_ANY, "each rank holds a share of the rows; one all-to-all of blocks"),
    "alltoallv": (_ANY, "the same by MPI_Alltoallv, for shares of unequal size"),
}


def transposes_catalogue() -> Catalogue:
    """All ways; none of them is a library's default."""
    offers = tuple(
        Offer("transpose", name, name, (_ROWS,), restrictions=restrictions, source=what)
        for name, (restrictions, what) in _WAYS.items()
    )
    return Catalogue(OWN, __version__, {"transpose": offers})
