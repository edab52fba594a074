"""The rules file of Open MPI's `coll/tuned`, 4.1 and 5.0: written, read and checked.

    file  := ["rule-file-version-N"] NCOLL coll*
    coll  := COLLID NCOMM comm*
    comm  := COMSIZE NMSG msg*
    msg   := MSGSIZE ALG TOPO SEGSIZE [MAXREQ]      (MAXREQ in version 2)

Of the COMSIZEs the last that is no larger than the communicator holds, the first where all are larger; of its MSGSIZEs
likewise. ALG 0 leaves the choice to the library. Read from the sources of 4.1.4, 4.1.8 and 5.0.7 to 5.0.10.

6.0 reads the format, too, but gives entries other communicators: for it rules are in JSON.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

from timpani.errors import printable
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameters
from timpani.libraries.grid import (
    NONE,
    CommunicatorGroup,
    GivesUpError,
    RuleGrid,
    SizeChoice,
    order_faults,
    until_larger,
    with_ranks,
    with_sizes,
)
from timpani.libraries.openmpi.han_rules import is_hans
from timpani.libraries.openmpi.sayable import Sayable, by_ranks
from timpani.libraries.openmpi.settings import ahead_of_tuned
from timpani.libraries.openmpi.tuned import (
    ALL_IDS,
    MAX_LONG,
    NAMES,
    REWRITE,
    TUNED,
    Dialect,
    compared,
    fields,
    group_faults,
    reads_headers,
    setting_faults,
    unknown_faults,
    written_algorithm,
)
from timpani.libraries.tuning_file import Fault, TuningFile, Written, first_faults, refuse_errors
from timpani.native.mpi import Mpi, version_numbers
from timpani.study.cell import Algorithm
from timpani.study.selection import SelectionTable
from timpani.study.sizes import LARGEST, show_size
from timpani.study.words import counted

_BEGINS = re.compile(r"\ufeff?(?:\s++|#[^\n]*+)*+(?:rule-file-version-|[+-]?\d)")
_HEADER = "rule-file-version-"
_VERSION = re.compile(rf"{_HEADER}[ \t\n\v\f\r]*[+-]?(\d{{1,9}})", re.ASCII)
_TOKEN = re.compile(
    r"[ \t\n\v\f\r]*(?:"
    r"(?P<number>[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[1-9][0-9]*))"
    r"|(?P<comment>#[^\n]*)"
    r"|(?P<sign>[+-](?s:[^#])?)"  # C takes a sign for the start of a number, and gives up at what follows
    r"|(?P<letters>[^ \t\n\v\f\r0-9+#-]+))",
    re.ASCII,
)
_WORD = re.compile(r"[^\s#]{0,40}")
_DIGIT_FOLLOWS = re.compile(r"[ \t]*[0-9]")
_MAX_DIGITS = 40
"""Of a number: more than C's longest has, and no work to read."""

_PERSONS_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,40})", re.ASCII)
_OCTAL = re.compile(r"[+-]?0\d", re.ASCII)
_MAX_SHOWN = 20
"""Faults of one kind in the text; more say nothing new."""

_IGNORED = "Open MPI silently ignores the whole file and chooses as without it"
_MIN_RANKS = 2
"""Smaller communicators are not coll/tuned's."""

_SEARCH = "the library stops at the first that is too large, so some rules are never reached"

_DIALECT = Dialect(
    unknown=("error", "the call that meets the rule fails"),
    only_two="have it in the rules for 2 ranks, and put the lines `3 1` and `0 0 0 0` after them",
    keys={"topo": "fan-out", "segment": "segment size", "requests": "number of requests"},
    keyed=False,
)


@dataclass(frozen=True)
class _Number:
    """A number and its line; `written` is the word that it begins, where that is not the number as people write it."""

    value: int
    line: int
    written: str = ""


class _Numbers:
    """A text's numbers as the library finds them: C's `%li`, over everything else.

    words  what stands between them outside of comments, with its line: the library reads over it, letter by letter
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.words: list[tuple[int, str]] = []
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, at: int | None = None) -> int:
        """Of a place; of the place to which reading has come."""
        return bisect_right(self._starts, self.at if at is None else at)

    def next(self) -> _Number | None:
        """The next number; None at the end."""
        while match := _TOKEN.match(self.text, self.at):
            self.at, kind = match.end(), str(match.lastgroup)
            line, word = self.line(match.start(kind)), self._word(match.start(kind))
            if kind == "number":
                value = _value(match[kind])
                return _Number(value, line, "" if word == str(value) else word)
            if kind != "comment" and (not self.words or self.words[-1][0] != line):
                self.words.append((line, word))
        self.at = len(self.text)
        return None

    def _word(self, at: int) -> str:
        match = _WORD.match(self.text, at)
        return match[0] if match else ""


def _value(written: str) -> int:
    """C's reading: 010 is eight, 0x is nought, and what is too large is the largest."""
    sign = -1 if written[0] == "-" else 1
    digits = written.lstrip("+-").lower()
    if len(digits) > _MAX_DIGITS:
        return sign * MAX_LONG
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return sign * min(int(digits.removeprefix("0x") or "0", base), MAX_LONG)


@dataclass(frozen=True)
class _Collective:
    line: int
    id: int
    groups: tuple[CommunicatorGroup, ...]


@dataclass(frozen=True)
class _RunsOver:
    """The first rule that continues in another line where those before had a line each, and the count that it is of.

    announced  how many rules that count says
    before     how many of them stand before this one
    """

    line: int
    last_line: int
    count_line: int
    announced: int
    before: int


class _RulesFile:
    """A text as a library takes it apart, up to where it gives up.

    version      of the format: 1 where there is no header
    collectives  those that stand before the place at which the library gives up, if it does
    gave_up      at the first of these it gives up; what can be read nevertheless is
    numbers      that are written otherwise than people write their value
    rest         the line of the first number after the last rule; None without one
    runs_over    where numbers and lines do not fit, which shows that a count is wrong; None where they do
    """

    def __init__(self, text: str, catalogue: Catalogue) -> None:
        self._source = _Numbers(text)
        self._provider = catalogue.provider
        self._known = {
            TUNED[name].id: {int(info.value): info for info in infos}
            for name, infos in catalogue.algorithms.items()
            if name in TUNED
        }
        self._one_a_line = False
        self.version = 1
        self.collectives: list[_Collective] = []
        self.gave_up: list[Fault] = []
        self.numbers: list[_Number] = []
        self.words = self._source.words
        self.rest: int | None = None
        self.runs_over: _RunsOver | None = None
        try:
            if reads_headers(version_numbers(catalogue.version)) and (match := _VERSION.match(text)):
                self._source.at, self.version = match.end(), int(match[1]) or 1
            self._read_collectives()
            if following := self._source.next():
                self.rest = following.line
        except GivesUpError as stop:
            self.gave_up.append(Fault("error", self._source.line(), str(stop), _IGNORED, REWRITE))

    def _read_collectives(self) -> None:
        count = self._number("the number of collectives")
        if count.value > ALL_IDS:
            raise GivesUpError(f"{count.value} collectives are more than there are, {ALL_IDS}")
        for _ in range(count.value):
            id = self._number("a collective's id")
            if id.value >= ALL_IDS:
                raise GivesUpError(f"there is no collective {id.value}; the largest id is {ALL_IDS - 1}")
            sizes = self._number("the number of communicator sizes")
            known = self._known.get(id.value, {})
            groups = [self._group(known) for _ in range(sizes.value)]
            self.collectives.append(_Collective(id.line, id.value, with_ranks(groups, until_larger)))

    def _group(self, known: dict[int, AlgorithmInfo]) -> CommunicatorGroup:
        ranks = self._number("a communicator size", LARGEST)
        count = self._number("the number of message sizes")
        choices = [self._choice(number, count, known) for number in range(count.value)]
        return CommunicatorGroup(ranks.line, ranks.value, NONE, with_sizes(choices, until_larger))

    def _choice(self, before: int, count: _Number, known: dict[int, AlgorithmInfo]) -> SizeChoice:
        size = self._number("a message size")
        number = self._number("an algorithm's id", LARGEST).value
        topo = self._number("a fan-out", LARGEST)
        segment = self._number("a segment size", LARGEST)
        if size.line == segment.line:
            self._one_a_line = True
        elif self._one_a_line and not self.runs_over:
            self.runs_over = _RunsOver(size.line, segment.line, count.line, count.value, before)
        requests = None
        if self.version > 1 and _DIGIT_FOLLOWS.match(self._source.text, self._source.at):
            requests = self._number("a number of requests", LARGEST).value
        if not before and size.value:
            fix = "put the line `0 0 0 0` before it, and count one message size more"
            what = f"the first message size is {size.value} and not 0"
            self.gave_up.append(Fault("error", size.line, what, _IGNORED, fix))
        values = {"topo": topo.value, "segment": segment.value, "requests": requests}
        info = known.get(number) if number else None
        algorithm = written_algorithm(self._provider, info, values) if info else None
        return SizeChoice(size.line, size.value, NONE, algorithm, str(number or ""), info, values)

    def _number(self, what: str, most: int | None = None) -> _Number:
        found = self._source.next()
        if found is None:
            raise GivesUpError(f"the file ends where {what} should stand")
        if found.written:
            self.numbers.append(found)
        if found.value < 0:
            raise GivesUpError(f"{what} is negative: {found.value}")
        if most is not None and found.value > most:
            raise GivesUpError(f"{what} is larger than C's int: {found.value}")
        return found

    def groups(self) -> dict[str, tuple[CommunicatorGroup, ...]]:
        """By collective of coll/tuned; of two with one id the last counts."""
        return {NAMES[each.id]: each.groups for each in self.collectives if each.id in self._known}


class TunedRules(TuningFile):
    """Open MPI 4.1's and 5.0's format."""

    name = "openmpi-tuned.conf"
    title = "Open MPI's rules for coll/tuned"
    since = (4, 1)
    until = (6,)

    def recognizes(self, text: str) -> bool:
        """Numbers from the first on, or the header, and not HAN's levels or components."""
        return _BEGINS.match(text) is not None and not is_hans(text)

    def read(self, text: str, catalogue: Catalogue) -> RuleGrid:
        """UserError for a file that the library ignores, or by which a call fails."""
        said = _RulesFile(text, catalogue)
        refuse_errors(said.gave_up)
        groups = said.groups()
        for name, found in groups.items():
            refuse_errors(unknown_faults(name, found, catalogue, _DIALECT))
        return RuleGrid(groups, compared)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """Errors, and rules that do something else than they seem to."""
        said = _RulesFile(text, catalogue)
        if over := said.runs_over:  # the cause before its consequences
            what = f"a rule begins in line {over.line} and ends in line {over.last_line}"
            consequence = "the library takes the numbers after it for others, or ignores the file"
            severity: Literal["error", "warning"] = "error" if said.gave_up or said.rest else "warning"
            fix = f"correct the count in line {over.count_line}, which announces {counted(over.announced, 'rule')} "
            fix += f"where {over.before} {'stands' if over.before == 1 else 'stand'}, or one above"
            yield Fault(severity, over.line, what, consequence, fix)
        yield from _header_faults(text, said, mpi)
        yield from _word_faults(said)
        of_rules = _rule_faults(said, catalogue)
        yield from first_faults(each for each in of_rules if not over or (each.line or 0) < over.count_line)
        chosen = {name for name, groups in said.groups().items() if any(group.chooses for group in groups)}
        yield from setting_faults(chosen, mpi)

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Parameters that are the library's defaults are not in `said`, nor in what is read back."""
        sayable = Sayable.in_version(mpi.numbers, table, catalogue)
        said = replace(table, rules=tuple(each.rule for each in sayable.rules_in_file()))
        requests = any("max_requests" in dict(rule.algorithm.parameters) for rule in said.rules)
        text = "".join(f"{line}\n" for line in _lines(said, catalogue, 2 if requests else 1))
        return Written(text, said, tuple(sayable.left_out))

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """See `tuned_switches`."""
        return tuned_switches(path, mpi)


def tuned_switches(path: Path, mpi: Mpi) -> Parameters:
    """The parameters by which coll/tuned reads the rules at `path`, in whichever format.

    On several nodes 5.0's HAN goes before coll/tuned, unless its own file delegates calls. Components that go before it
    on any number of nodes are kept out.
    """
    others = ahead_of_tuned(mpi)
    without = (("coll", f"^{','.join(others)}"),) if others else ()
    return (("coll_tuned_use_dynamic_rules", "1"), ("coll_tuned_dynamic_rules_filename", str(path)), *without)


_COMPARED = {
    "vector": "sizes are bytes of the vector",
    "blocks": "sizes are ranks x bytes of a block",
    "elements": "the library compares no size",
    "nothing": "the library compares no size",
}


def _lines(said: SelectionTable, catalogue: Catalogue, version: int) -> Iterator[str]:
    """The lines of a file in this version of the format."""
    collectives = [name for name in TUNED if said.rules_for([name])]
    if version > 1:
        yield f"{_HEADER}{version}"
    yield f"{len(collectives)}  # collectives; for {printable(f'{catalogue.title}, from {said.source}')}"
    for name in collectives:
        entries = dict(by_ranks(name, said.rules_for([name])))
        yield f"{TUNED[name].id}  # {name}: {_COMPARED[TUNED[name].unit]}"
        yield f"{len(entries)}  # communicator sizes"
        for ranks, sizes in entries.items():
            yield f"{ranks} {len(sizes)}  # from {ranks} ranks"
            for size, algorithm in sizes.items():
                chosen = algorithm.plain if algorithm else "the library chooses"
                yield f"{size} {_fields(name, algorithm, catalogue, version)}  # from {show_size(size)}: {chosen}"


def _fields(collective: str, algorithm: Algorithm | None, catalogue: Catalogue, version: int) -> str:
    """ALG TOPO SEGSIZE [MAXREQ]. Nought is what the library takes where a field means nothing."""
    info = catalogue.info(collective, algorithm) if algorithm else None
    asked = dict(algorithm.parameters) if algorithm else {}
    given = {where: asked.get(each.name, each.default) for where, each in fields(info).items()} if info else {}
    values = [int(info.value) if info else 0, given.get("topo", 0), given.get("segment", 0)]
    values += [given.get("requests", 0)] if version > 1 else []
    return " ".join(map(str, values))


def _header_faults(text: str, said: _RulesFile, mpi: Mpi) -> Iterator[Fault]:
    at = text.find(_HEADER)
    begins_line = at >= 0 and not text[text.rfind("\n", 0, at) + 1 : at].strip().startswith("#")
    headers = reads_headers(mpi.numbers)
    line = text.count("\n", 0, at) + 1
    if begins_line and not headers:
        what = f"{mpi.name} {mpi.version} knows no header, and takes its number for a negative one"
        fix = "remove the header, and each rule's fifth number; 4.1.8 and 5.0.7 are the first that read them"
        yield Fault("error", line, what, _IGNORED, fix)
    elif begins_line and at > 0:
        yield Fault("error", line, "the header is not the file's first bytes", _IGNORED, "move it there")
    else:
        yield from said.gave_up[:_MAX_SHOWN]
    if begins_line and headers and at == 0 and not 1 <= said.version <= 2:
        what = f"there is no version {said.version} of the format"
        yield Fault("warning", 1, what, "versions over 2 are read as 2, others as 1", f"write {_HEADER}2")
    if said.rest is not None:
        what = "there are more numbers than the collectives announced need"
        fix = "correct the number of collectives, or of rules"
        yield Fault("warning", said.rest, what, "what follows here is not read", fix)


def _word_faults(said: _RulesFile) -> Iterator[Fault]:
    for number in said.numbers[:_MAX_SHOWN]:
        if _shown_value(number.written) == number.value:
            continue
        octal = _OCTAL.match(number.written) is not None
        what = f"{printable(number.written)} is read as {number.value}{' (octal, as in C)' if octal else ''}"
        yield Fault("warning", number.line, what, "the rule is for another number than it shows", "write it in decimal")
    for line, word in said.words[:_MAX_SHOWN]:
        if not word.startswith(_HEADER):
            what = f"{word!r} stands outside of a comment"
            yield Fault("warning", line, what, "letters are read over, and digits in them count", "put # before it")


def _shown_value(written: str) -> int | None:
    """What a person reads: `00` and `+0` are zero, `0x10` is 16; None where it is no number."""
    if not _PERSONS_NUMBER.fullmatch(written):
        return None
    return int(written, 16 if "x" in written.lower() else 10)


def _rule_faults(said: _RulesFile, catalogue: Catalogue) -> Iterator[Fault]:
    known, seen = said.groups(), dict[int, int]()
    for collective in said.collectives:
        if collective.id in seen:
            what = f"collective {collective.id} has rules in line {seen[collective.id]} already"
            yield Fault("warning", collective.line, what, "only the last are used", "remove one of the two")
        seen[collective.id] = collective.line
        name, groups = NAMES.get(collective.id, ""), collective.groups
        if name not in known:
            what = f"coll/tuned leaves collective {collective.id} to others"
            yield Fault("warning", collective.line, what, "its rules do nothing", "remove them")
            continue
        yield from group_faults(name, groups, catalogue, _DIALECT)
        yield from _reach_faults(groups, name)
        for group in groups:
            yield from order_faults(group.choices, "size {}", _SEARCH)
            if said.version == 1:
                yield from _fifth_number_faults(group)


def _reach_faults(groups: tuple[CommunicatorGroup, ...], name: str) -> Iterator[Fault]:
    """Rules that hold beyond the ranks that they seem to be for."""
    yield from order_faults(groups, f"{name}: rules for {{}} ranks", _SEARCH)
    for group, following in pairwise(groups):
        if group.chooses and following.start > 2 * group.start >= 2 * _MIN_RANKS:
            what = f"{name}: the rules for {group.start} ranks hold up to {following.start - 1} ranks"
            fix = f"put the lines `{group.start + 1} 1` and `0 0 0 0` after them, if {group.start} was measured alone"
            yield Fault("warning", group.line, what, "a choice for few ranks decides for many", fix)
    if groups and groups[0].chooses and groups[0].start > _MIN_RANKS:
        what = f"{name}: there is no rule for fewer than {groups[0].start} ranks"
        fix = "put the lines `0 1` and `0 0 0 0` before it, and count one communicator size more"
        yield Fault("warning", groups[0].line, what, "the first rule holds for smaller communicators, too", fix)
    if groups and groups[-1].chooses and groups[-1].start >= _MIN_RANKS:  # from 0 or 1 on: for all communicators
        last = groups[-1]
        what = f"{name}: nothing ends the rules for {last.start} ranks"
        fix = f"put the lines `{last.start + 1} 1` and `0 0 0 0` after them, and count one communicator size more"
        yield Fault("warning", last.line, what, "they hold for all larger communicators, too", fix)


def _fifth_number_faults(group: CommunicatorGroup) -> Iterator[Fault]:
    for choice, following in pairwise(group.choices):
        if choice.line == following.line:
            what = "a line has more than the four numbers of a rule"
            consequence = "without the header of version 2 a fifth is taken for the next rule's size"
            yield Fault("warning", choice.line, what, consequence, "begin with rule-file-version-2, or write four")
            return
