"""With which arguments the calls of a collective are measured, besides ranks and size."""

from dataclasses import dataclass
from typing import Literal

ROTATING: Literal["rotating"] = "rotating"
"""In place of a root: another rank in each launch."""

DATATYPES = {"uint8": 1, "int32": 4, "float": 4, "double": 8}
"""Element types and their bytes."""

OPERATORS = ("sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor")
"""How collectives that reduce combine elements, as MPI names them."""

_REAL_OPERATORS = ("sum", "prod", "max", "min")
_REAL = ("float", "double")

_GOLDEN_RATIO = 0.618033988749895
"""Multiples of it, without their whole part, are spread evenly, however many there are (Kronecker sequence)."""


@dataclass(frozen=True)
class CallArguments:
    """The arguments of one operation's calls.

    root      a rank, or ROTATING
    in_place  MPI_IN_PLACE on the ranks that MPI allows it on
    """

    datatype: str = "uint8"
    operator: str = "sum"
    root: int | str = 0
    in_place: bool = False

    def root_in(self, launch: int, ranks: int) -> int:
        """The root in a launch of `ranks` ranks; launches count from 1."""
        return self.root if isinstance(self.root, int) else int(ranks * ((launch - 1) * _GOLDEN_RATIO % 1))


def combines(operator: str, datatype: str) -> bool:
    """Whether MPI defines the operator for the datatype: logical and bitwise ones for whole numbers only."""
    return operator in _REAL_OPERATORS or (operator in OPERATORS and datatype not in _REAL)
