"""Algorithms of MPICH's POSIX device: how ranks of one node do their part of a collective, in shared memory.

CH4 composes a collective of parts on the nodes and between them, and asks the device for the part on a node. The
variable MPIR_CVAR_<OP>_POSIX_INTRA_ALGORITHM chooses `release_gather` (flags and cells in shared memory) or `mpir`
(messages, by the selection tree); it is read at each call. The library uses messages for the first calls of a
communicator in any case (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). From `posix_coll.h` of 4.0.2 and 5.0.1; ran on 5.0.2.
"""

from collections.abc import Iterable, Mapping

from timpani.libraries.catalogue import AlgorithmInfo
from timpani.libraries.mpich.control_variables import Variable
from timpani.study.operations import COLLECTIVES

PREFIX = "posix_"
"""With which Timpani's names of these algorithms begin; the library's value follows."""

RELEASE_GATHER, MESSAGES = "release_gather", "mpir"
"""The library's values."""


def node_algorithms(variables: Iterable[Variable]) -> Mapping[str, tuple[AlgorithmInfo, ...]]:
    """By collective, for those for which the device has an algorithm."""
    by_name = {variable.name: variable for variable in variables}
    return {
        collective: tuple(
            AlgorithmInfo(collective, f"{PREFIX}{value}", value, ()) for value in (RELEASE_GATHER, MESSAGES)
        )
        for collective in COLLECTIVES
        if (variable := by_name.get(node_variable(collective))) and RELEASE_GATHER in variable.description
    }


def node_variable(collective: str) -> str:
    """The control variable that chooses the algorithm of a node's part."""
    return f"MPIR_CVAR_{collective.upper()}_POSIX_INTRA_ALGORITHM"


def is_of_node(name: str) -> bool:
    """Whether Timpani's `name` of an algorithm is one for a node's part."""
    return name.startswith(PREFIX)
