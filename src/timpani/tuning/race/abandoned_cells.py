"""When a cell that fails is tried no more."""

MOST_FAILURES = 2
"""Launches that a cell may fail in before it is given up."""

NOT_TRIED = "not tried"
"""How the error begins of a cell that was given up for what the algorithm did elsewhere."""


def failures(error: str) -> int:
    """How many launches the cell counts as failed in by one of its errors."""
    return MOST_FAILURES if error.startswith(NOT_TRIED) else 1
