"""From what a user types to an algorithm that the library has."""

import pytest

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter
from timpani.study.cell import Algorithm

FANOUT = Parameter("fanout", "coll_tuned_bcast_algorithm_tree_fanout", 4, "children of a rank")
CATALOGUE = Catalogue(
    "openmpi",
    "5.0.11",
    {
        "bcast": (
            AlgorithmInfo("bcast", "linear", "1", (), ("basic_linear",)),
            AlgorithmInfo("bcast", "binary", "5", (FANOUT,), ("binary_tree",)),
        )
    },
    name="Open MPI",
)


@pytest.mark.parametrize(
    ("typed", "resolved"),
    [
        ("default", "openmpi/default"),
        ("linear", "openmpi/linear"),
        ("basic_linear", "openmpi/linear"),
        ("openmpi/binary_tree:fanout=2", "openmpi/binary:fanout=2"),
    ],
)
def test_typed_names_become_recorded_names(typed: str, resolved: str) -> None:
    assert str(CATALOGUE.resolve("bcast", Algorithm.parse(typed))) == resolved


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("linaer", "unknown bcast algorithm of Open MPI 5.0.11 'linaer'; did you mean linear"),
        ("binary:fanuot=2", "unknown parameter of Open MPI's bcast binary 'fanuot'; did you mean fanout"),
        ("linear:fanout=2", "linear has no parameters"),
        ("mpich/binomial", "not an algorithm of the library in use.*--mpi mpich"),
        ("binary:fanout=-1", "out of range"),
    ],
)
def test_an_algorithm_that_the_library_lacks_is_an_error_with_the_next_step(typed: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        CATALOGUE.resolve("bcast", Algorithm.parse(typed))
