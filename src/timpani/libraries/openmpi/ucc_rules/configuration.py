"""The text of a `ucc.conf` as UCC takes it apart: settings, in sections or before them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from timpani.errors import printable, shortened
from timpani.libraries.tuning_file import Fault
from timpani.study.selection import ALL, Call, Span

KEYS = ("vendor", "model", "team_size", "ppn", "sock", "nnodes")
_RANGES = ("team_size", "ppn", "sock", "nnodes")
_SECTION = re.compile(r"\[(?P<name>[^\]]*)\]")
_SETTING = re.compile(r"(?:export\s+)?(?P<name>[^\s=:]+)\s*[=:]\s*(?P<value>.*)")
_SPAN = re.compile(r"(?P<first>\d{1,10})(?:-(?P<last>\d{1,10}))?", re.ASCII)
_REFUSED = "UCC can't read the file, and prints an error"


@dataclass(frozen=True)
class UccSection:
    """Which teams a part of the file is for; a key that is missing restricts nothing.

    line    of its name; 0: the part before all sections
    others  keys of processors and sockets, which calls do not show
    """

    line: int
    team_size: Span = ALL
    ppn: Span = ALL
    nnodes: Span = ALL
    others: tuple[str, ...] = ()

    def holds(self, call: Call) -> bool:
        """Whether the communicator of `call` is such a team, on nodes with equally many ranks each."""
        return call.ranks in self.team_size and call.per_node in self.ppn and call.nodes in self.nnodes


@dataclass(frozen=True)
class UccSetting:
    """One setting, its line and its section."""

    line: int
    section: UccSection
    name: str
    value: str


def read_configuration(text: str) -> Iterator[UccSetting | Fault]:
    """Each setting, and what UCC refuses."""
    section = UccSection(0)
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if match := _SECTION.match(words):
            found = _section(number, match["name"])
            if isinstance(found, Fault):
                yield found
                found = UccSection(number)
            section = found
        elif match := _SETTING.fullmatch(words):
            name, value = match["name"], match["value"].strip().strip("'\"")
            if "UCC_" not in name:
                what = f"{printable(shortened(name, 40))} is no variable of UCC's"
                yield Fault("error", number, what, _REFUSED, "write UCC_… before it")
            yield UccSetting(number, section, name, value)
        else:
            yield Fault("error", number, "neither a section nor a setting", _REFUSED, "write NAME = VALUE")


def _section(line: int, name: str) -> UccSection | Fault:
    spans: dict[str, Span] = {}
    others: list[str] = []
    for word in name.split(" "):
        key, _, value = word.partition("=")
        if key.lower() == "vendor" or key == "model":
            others.append(word)
            continue
        match = _SPAN.fullmatch(value)
        if key not in _RANGES or match is None:
            shown = printable(shortened(word, 40))
            fix = f"write KEY=N or KEY=N-M, separated by one space, with {', '.join(KEYS)}"
            return Fault("error", line, f"a section with {shown!r}", _REFUSED, fix)
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if last < first:
            return Fault("warning", line, f"{key}={value} is reversed", "the section never holds", "correct it")
        if key == "sock":
            others.append(word)
        else:
            spans[key] = Span(first, last)
    return UccSection(line, **spans, others=tuple(others))
