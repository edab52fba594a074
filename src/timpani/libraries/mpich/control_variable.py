"""A control variable of MPICH."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """A control variable, as timpani-discover prints it."""

    name: str
    value: int | None
    description: str
