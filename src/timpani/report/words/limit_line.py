"""What `--fail-on` found, in one line."""

from collections.abc import Sequence

from timpani.study.words import counted, per_cent
from timpani.tuning.compare.changes import ChangeLimit


def limit_line(limit: ChangeLimit, changes: Sequence[float], noun: str, undecided: int, by_value: int = 0) -> str:
    """Whether `limit` is met, and what could not be decided.

    changes    the changes that meet it, as shares
    undecided  number of cells or points (`noun`) that are undecided, `by_value` of those without a test
    """
    if changes:
        answer = f"met at {counted(len(changes), noun)}, by up to {per_cent(max(changes))}"
    else:
        answer = "not met by any significant change"
    untested = f"; {by_value} compared by value only" if by_value else ""
    return f"--fail-on {limit}: {answer}; {undecided} undecided, which does not fail{untested}"
