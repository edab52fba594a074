"""What a user is told when input can't be used."""

import difflib
import errno
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class UserError(Exception):
    """Input that can't be used. `what` names the cause and the place, `next_step` what to do; the exit status is 2."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(f"{what}; {next_step}")
        self.what = what
        self.next_step = next_step


def unknown(kind: str, name: str, known: Iterable[str], listing: str) -> UserError:
    """The error for a name that isn't one of `known`: it offers the nearest valid names, else the `listing` command."""
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    step = f"did you mean {' or '.join(near)}?" if near else f"`{listing}` shows what there is"
    return UserError(f"unknown {kind} {name!r}", step)


_LONGEST_SHOWN = 60  # characters of a wrong value


def wrong_value(source: str, problem: Mapping[str, Any], expected: Mapping[str, str], listing: str) -> UserError:
    """The error for a value in `source` that a pydantic model refused.

    problem   the first of the model's `errors()`, whose own words are for programmers
    expected  what may be written, by key
    listing   where the keys are described
    """
    where = ".".join(str(part) for part in problem["loc"])
    key = next((part for part in reversed(problem["loc"]) if part in expected), None)
    step = f"write {expected[key]}" if key is not None else f"{listing} describes it"
    if problem["type"] == "missing":
        return UserError(f"{source}: {where} is missing", step)
    shown = repr(problem["input"])
    shown = shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 1] + "…"
    return UserError(f"{source}: {where} can't be {shown}", step)


def cannot_write(path: Path, error: OSError) -> UserError:
    """The error for a file or folder that the system refuses to write."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    step = "make room; what was written before stays" if full else "choose a place that you may write to"
    return UserError(f"{path} can't be written ({error.strerror})", step)
