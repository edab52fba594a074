"""When a failing cell is abandoned."""

MAX_FAILURES = 2
"""Number of failed launches after which a cell is abandoned."""

NOT_TRIED = "not tried"
"""Start of the error of a cell that was abandoned because its algorithm failed in other cells."""


def failures(error: str) -> int:
    """Number of failed launches for which one error counts."""
    return MAX_FAILURES if error.startswith(NOT_TRIED) else 1
