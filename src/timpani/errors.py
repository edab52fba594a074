"""Errors for input that can't be used: what is wrong, where, and the next step."""

import difflib
import errno
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

_MAX_VALUE_CHARACTERS = 60  # characters of a wrong value
_MAX_MESSAGE_CHARACTERS = 600  # characters of what is said; of the places that an error names paths are the longest


@lru_cache(maxsize=1024)  # a campaign's names repeat in each of its lines
def printable(text: str, keep: str = "") -> str:
    """`text` for a terminal: what can't be printed, as ESC or a line feed, as its escape, but for those in `keep`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, longest: int) -> str:
    """`text`, its middle left out where it is longer than `longest` characters."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def too_few_files(error: BaseException) -> bool:
    """Whether the system refused because too many files are open: no answer of a program that could not be started."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


class UserError(Exception):
    """Input that can't be used. `what` names the cause and the place, `next_step` what to do; the exit status is 2.

    Both are printable and of bounded length, whatever input they repeat.
    """

    def __init__(self, what: str, next_step: str) -> None:
        self.what = shortened(printable(what), _MAX_MESSAGE_CHARACTERS)
        self.next_step = shortened(printable(next_step), _MAX_MESSAGE_CHARACTERS)
        super().__init__(f"{self.what}; {self.next_step}")


class AlgorithmError(UserError):
    """A user's algorithm that does not compile, is missing from its file, or ends the program that runs it."""


def unknown(kind: str, name: str, known: Iterable[str], listing: str) -> UserError:
    """The error for a name that isn't one of `known`: it offers the nearest valid names, else the `listing` command."""
    near = difflib.get_close_matches(name[:_MAX_VALUE_CHARACTERS], sorted(known), n=3, cutoff=0.5)
    step = f"did you mean {' or '.join(near)}?" if near else f"`{listing}` shows what there is"
    return UserError(f"unknown {kind} {name!r}", step)


def wrong_value(source: str, problem: Mapping[str, Any], expected: Mapping[str, str], listing: str) -> UserError:
    """The error for a value in `source` that a pydantic model refused.

    problem   the first of the model's `errors()`, whose own words are for programmers
    expected  what may be written, by key
    listing   where the keys are described
    """
    key = next((part for part in reversed(problem["loc"]) if part in expected), None)
    step = f"write {expected[key]}" if key is not None else f"{listing} describes it"
    return UserError(f"{source}: {wrong(problem)}", step)


def wrong(problem: Mapping[str, Any]) -> str:
    """What of a value a pydantic model refused, in words; `problem` is one of its `errors()`."""
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where} is missing" if problem["type"] == "missing" else f"{where} can't be {_shown(problem['input'])}"


def _shown(value: Any) -> str:
    """The beginning of a value, as Python writes it."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        text = "what it is"
    return text if len(text) <= _MAX_VALUE_CHARACTERS else text[: _MAX_VALUE_CHARACTERS - 1] + "…"


NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})
"""Errors of flock on a file system without locks, such as Lustre mounted without `flock`."""


def cannot_lock(path: Path, error: OSError, next_step: str) -> UserError:
    """The error for a file or folder that can't be locked, where locks keep two processes apart."""
    if error.errno in NO_LOCKS:
        return UserError(f"{path} is on a file system without file locks ({error.strerror})", next_step)
    return UserError(f"{path} can't be locked ({error.strerror})", next_step)


def cannot_write(path: Path, error: OSError) -> UserError:
    """The error for a file or folder that the system refuses to write."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    step = "make room, then give the same command again" if full else "choose a place that you may write to"
    return UserError(f"{path} can't be written ({error.strerror})", step)
