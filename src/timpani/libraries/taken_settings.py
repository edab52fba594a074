"""What a library took of the settings that a variant asks for, and which of them it did not take."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from timpani.errors import UserError, printable

_NUMBER = re.compile(r"(?P<digits>-?\d{1,18})(?P<unit>[kKmMgG]?)[bB]?", re.ASCII)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}
_COMPLAINT = re.compile(
    r"unused env(ironment)? variables?: .*"  # UCX
    r"|.*(environment variable is not supported|removed from the product|will be ignored).*"  # Intel MPI 2021
)
_SUGGESTION = re.compile(r"\(.*?\)")
_TRUE, _FALSE = {"true", "yes", "on", "enable", "enabled"}, {"false", "no", "off", "disable", "disabled"}


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

    texts         each control variable's value, an enumerator by its name
    numbers       those that are whole numbers
    descriptions  the library's words on each
    aliases       by a further name of a control variable, its name in the others
    components    by collective, the component of the library that runs it; empty where the library doesn't show it
    unforwarded   names of variables that not every rank found as they were set
    unverified    control variables whose value is what the environment sets, and may not be in force
    complaints    lines that the library or a transport printed because it did not take a setting
    places        of each rank its `host`, `cores` and `sockets`
    """

    texts: Mapping[str, str]
    numbers: Mapping[str, int] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    components: Mapping[str, str] = field(default_factory=dict)
    unforwarded: tuple[str, ...] = ()
    unverified: frozenset[str] = frozenset()
    complaints: tuple[str, ...] = ()
    places: tuple[Mapping[str, Any], ...] = ()

    def shows(self, control: str) -> bool:
        """Whether a control variable is among the program's."""
        return self.aliases.get(control, control) in self.texts

    def verifies(self, control: str) -> bool:
        """Whether the program shows the value of a control variable that is in force."""
        return self.shows(control) and self.aliases.get(control, control) not in self.unverified


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
    if not taken.shows(control):
        known = {*taken.texts, *taken.aliases, *installed().sources}
        return None if control in known else _unknown(f"parameter {name}", control, known)
    control = taken.aliases.get(control, control)
    components = installed().components.get(control)
    if components is not None:
        missing = [each for each in _components(asked) if each not in components]
        if missing:
            return _unknown(f"component {missing[0]} for {name}", missing[0], components)
    return value_fault(name, asked, control, taken, installed)


def value_fault(
    name: str, asked: str, control: str, taken: TakenSettings, installed: Callable[[], InstalledSettings]
) -> UserError | None:
    """That the value of a setting, whose control variable is among the program's, is not in force; None: it is."""
    control = taken.aliases.get(control, control)
    if control in taken.unverified or not _differs(asked, control, taken):
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


def _differs(asked: str, control: str, taken: TakenSettings) -> bool:
    """Whether a value was not taken, as far as that can be seen.

    Where the library shows a choice as a number, a name can't be compared; it stands in the variable's description.
    """
    text, number = taken.texts[control], taken.numbers.get(control)
    wanted = _number(asked)
    if wanted is not None:
        found = _number(text) if number is None else number
        return found is not None and found != wanted
    if number is not None and _number(text) is not None:
        return asked.strip().lower() not in taken.descriptions.get(control, "").lower()
    return asked.strip() != text.strip()


def _number(text: str) -> int | None:
    """A whole number, also with a unit of 1024, or a truth value."""
    word = text.strip().lower()
    if word in _TRUE | _FALSE:
        return int(word in _TRUE)
    match = _NUMBER.fullmatch(word)
    return int(match["digits"]) << _UNITS[match["unit"]] if match else None


def read_taken(lines: Iterable[str], aliases: Callable[[str], Iterable[str]]) -> TakenSettings:
    """What timpani-discover printed, among what libraries print.

    aliases  the names that users type for a control variable, by its description
    """
    objects: list[dict[str, Any]] = []
    complaints: list[str] = []
    for line in lines:
        if found := _object(line):
            objects.append(found)
        elif complaint := _COMPLAINT.search(line):
            complaints.append(printable(_SUGGESTION.sub("", complaint[0]).strip()))
    variables: dict[str, dict[str, Any]] = {}
    further_names: dict[str, str] = {}
    for each in objects:
        if "name" in each:
            name, *others = (*aliases(str(each.get("description", ""))), printable(str(each["name"])))
            variables[name] = each
            further_names |= dict.fromkeys(others, name)
    return TakenSettings(
        texts={name: printable(str(each.get("text", ""))) for name, each in variables.items()},
        numbers={name: each["value"] for name, each in variables.items() if isinstance(each.get("value"), int)},
        descriptions={name: str(each.get("description", "")) for name, each in variables.items()},
        aliases=further_names,
        components={
            printable(str(each["collective"])): printable(str(each.get("component")))
            for each in objects
            if "collective" in each
        },
        unforwarded=tuple(str(each["environment"]) for each in objects if each.get("everywhere") is False),
        unverified=frozenset(name for name, each in variables.items() if not each.get("in_force", True)),
        complaints=tuple(complaints),
        places=next((tuple(each["places"]) for each in objects if isinstance(each.get("places"), list)), ()),
    )


def complaint_fault(name: str, asked: str, taken: TakenSettings) -> UserError | None:
    """That a line which the library or a transport printed names a setting that it did not take; None: no line does."""
    # A number, or nothing, may stand in a line about anything.
    words = [name, *([asked] if asked and not asked.isdecimal() else [])]
    named = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)")
    line = next(filter(named.search, taken.complaints), None)
    return UserError(f"{name}={asked} is not taken: {line}", "correct it, or leave it out") if line else None


def _object(line: str) -> dict[str, Any]:
    """A line's JSON object; empty of other lines, such as what two processes printed into one."""
    try:
        found = json.loads(line) if line.startswith("{") else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
