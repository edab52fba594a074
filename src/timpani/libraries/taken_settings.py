"""What a library took of the settings that a variant asks for, and which of them it did not take."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from timpani.errors import UserError

_NUMBER = re.compile(r"(?P<digits>-?\d{1,18})(?P<unit>[kKmMgG]?)[bB]?", re.ASCII)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}
_TRUE, _FALSE = {"true", "yes", "enabled"}, {"false", "no", "disabled"}


@dataclass(frozen=True)
class InstalledSettings:
    """What an installation lists, whether a program uses it or not.

    sources     each parameter's name and where its value comes from, in the library's words
    components  by the parameter that selects them, the components that are installed
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    components: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class TakenSettings:
    """What a running program shows.

    texts        each control variable's value, an enumerator by its name
    numbers      those that are whole numbers
    unforwarded  names of variables that not every rank found as they were set
    places       of each rank its `host`, `cores` and `sockets`
    """

    texts: Mapping[str, str]
    numbers: Mapping[str, int] = field(default_factory=dict)
    unforwarded: tuple[str, ...] = ()
    places: tuple[Mapping[str, Any], ...] = ()


def setting_fault(
    name: str,
    asked: str,
    control: str,
    taken: TakenSettings,
    installed: Callable[[], InstalledSettings],
) -> UserError | None:
    """What is wrong with one setting: an unknown name or component, or a value that is not in force; None: nothing.

    name     as the user wrote it
    control  the control variable that it sets
    """
    if control not in taken.texts:
        known = {*taken.texts, *installed().sources}
        return None if control in known else _unknown(f"parameter {name}", control, known)
    components = installed().components.get(control)
    if components is not None:
        missing = [each for each in _components(asked) if each not in components]
        if missing:
            return _unknown(f"component {missing[0]} for {name}", missing[0], components)
    if not _differs(asked, taken.texts[control], taken.numbers.get(control)):
        return None
    source = installed().sources.get(control, "")
    where = f" from {source}" if source.startswith("file") else ""
    return UserError(
        f"{name}={asked} is not in force: the library runs with {taken.texts[control]!r}{where}",
        "correct the value, or remove what overrides it",
    )


def _unknown(what: str, name: str, known: set[str] | frozenset[str]) -> UserError:
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return UserError(f"the library has no {what}", f"did you mean {' or '.join(near)}?" if near else "correct the name")


def _components(text: str) -> Iterator[str]:
    yield from (each for each in text.removeprefix("^").split(",") if each)


def _differs(asked: str, text: str, number: int | None) -> bool:
    """Whether a value was not taken, as far as that can be seen: a name for a number can't be compared."""
    wanted = _number(asked)
    if wanted is not None:
        found = _number(text) if number is None else number
        return found is not None and found != wanted
    if number is not None and _number(text) is not None:
        return False
    return asked.strip() != text.strip()


def _number(text: str) -> int | None:
    """A whole number, also with a unit of 1024, or a truth value."""
    word = text.strip().lower()
    if word in _TRUE | _FALSE:
        return int(word in _TRUE)
    match = _NUMBER.fullmatch(word)
    return int(match["digits"]) << _UNITS[match["unit"]] if match else None
