"""I_MPI_ADJUST variables as a file that a shell reads: `3:0-4095;0:4096-2147483647`, presets with ranges.

How Intel MPI 2021.18 reads it was seen by presets whose times differ by factors, on 2 ranks:

- Bytes are counted as we count a collective's message: a block for allgather, alltoall, gather and scatter, the whole
  vector for reduce_scatter.
- Of a range only the upper end counts: the first entry whose upper end isn't below a call's size decides, whatever its
  lower end; beyond all upper ends the last entry does. So a call outside of all ranges is not left to the library.
- Preset 0 leaves its range to the library. A preset that doesn't exist does so too, without a word.
- With ranks (`@2-8`) the same holds for ranks, and sizes are ignored: of two entries with the same upper
  end of ranks the later replaces the earlier, even where their sizes differ.
- A value with any part that can't be read is ignored whole: `Incorrect adjust value … will be ignored`. One with blanks
  is, too, without a word.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

from timpani.errors import UserError, printable, shortened
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameters
from timpani.libraries.grid import CommunicatorGroup, RuleGrid, SizeChoice, up_to
from timpani.libraries.tuning_file import Fault, LeftOut, TuningFile, Written, differ_by_nodes
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Rule, SelectionTable, Span
from timpani.study.sizes import LARGEST

_MAX_LINE_CHARACTERS = 10_000
_NAME = re.compile(r"I_MPI_ADJUST_(?P<operation>[A-Z_]{1,100})")
_ASSIGNMENT = re.compile(rf"{_NAME.pattern}=(?P<value>.*)", re.DOTALL)
_OPERATORS = frozenset("();<>|&")
_PRINTING = ("echo", "printf", "#")
_ASIDE = ("-genv", "-env", "setenv", "unset")
"""Words that a variable's name follows, and its value in a separate word; `unset` has none."""

_EXPANDED = re.compile(r"[$`]")
_ENTRY_BEGINS = re.compile(r"\d{1,9}(?::[\d@-]*)?", re.ASCII)


_Groups = tuple[CommunicatorGroup, ...]


@dataclass(frozen=True)
class AdjustSetting:
    """A place that sets a variable.

    line        counted from 1
    collective  as the variable's name has it, in small letters
    value       None where it doesn't stand there: the shell computes it, or it is taken away
    exported    whether programs that the shell starts get it
    rest        what seems to belong to the value and is a command, since a semicolon ends the value
    """

    line: int
    collective: str
    value: str | None
    exported: bool
    rest: str = ""


def adjust_settings(text: str) -> Iterator[AdjustSetting]:
    """What a script sets, from the top; lines that name no such variable are the shell's own affair."""
    for number, line in enumerate(text.splitlines(), 1):
        if _NAME.search(line):
            yield from _of_line(number, line)


def _of_line(number: int, line: str) -> Iterator[AdjustSetting]:
    commands = _commands(line)
    if commands is None:
        if not line.lstrip().startswith("#"):
            yield from (AdjustSetting(number, each[1].lower(), None, True) for each in _NAME.finditer(line))
        return
    for words, following in pairwise([*commands, []]):
        if words[0] in _PRINTING:
            continue
        alone = all("=" in word for word in words)
        rest = following[0] if len(following) == 1 and _ENTRY_BEGINS.fullmatch(following[0]) else ""
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
            if match := _ASSIGNMENT.fullmatch(word):
                value = None if _EXPANDED.search(match["value"]) else match["value"]
                last = word == words[-1]
                yield AdjustSetting(number, match["operation"].lower(), value, not alone, rest if last else "")
            elif before in _ASIDE and (match := _NAME.fullmatch(word)):
                value = None if before == "unset" or _EXPANDED.search(after) else after
                yield AdjustSetting(number, match["operation"].lower(), value, True)


def _commands(line: str) -> list[list[str]] | None:
    """The words of each command of a line; None where the line alone has no meaning, as inside of a text."""
    if len(line) > _MAX_LINE_CHARACTERS:
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars="".join(sorted(_OPERATORS)))
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    parts = groupby(words, key=lambda word: bool(word) and set(word) <= _OPERATORS)
    return [list(part) for operator, part in parts if not operator]


_ENTRY = re.compile(
    r"(?P<preset>\d{1,9})"
    r"(?::(?P<first>\d{1,18})(?:-(?P<last>\d{1,18}))?(?:@(?P<fewest>\d{1,18})(?:-(?P<most>\d{1,18}))?)?)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Entry:
    """A preset with its ranges; None where it has none. Lower ends are as written, for those who look at it."""

    preset: int
    sizes: Span | None = None
    ranks: Span | None = None

    def __str__(self) -> str:
        if self.sizes is None:
            return str(self.preset)
        return f"{self.preset}:{_written(self.sizes)}" + (f"@{_written(self.ranks)}" if self.ranks else "")


def _written(span: Span) -> str:
    return f"{span.first}-{LARGEST if span.last is None else span.last}"


def parse_value(text: str) -> tuple[Entry, ...] | None:
    """The entries of a value; None where the library ignores it whole."""
    parts = text.removesuffix(";").split(";")
    matches = [_ENTRY.fullmatch(part) for part in parts]
    found = [match for match in matches if match]
    return tuple(map(_entry, found)) if len(found) == len(parts) else None


def _entry(match: "re.Match[str]") -> Entry:
    return Entry(int(match["preset"]), _span(match["first"], match["last"]), _span(match["fewest"], match["most"]))


def _span(first: str | None, last: str | None) -> Span | None:
    return None if first is None else Span(int(first), int(last or first))


def _end(span: Span | None) -> int:
    return LARGEST if span is None or span.last is None else span.last


def _groups(line: int, entries: Sequence[Entry], infos: Sequence[AlgorithmInfo], provider: str) -> _Groups:
    """What the library chooses by one variable's value; nothing for a preset that it lacks."""

    def choice(entry: Entry, sizes: Span) -> SizeChoice:
        info = next((each for each in infos if each.value == str(entry.preset)), None)
        algorithm = Algorithm(provider, info.name) if info else None
        return SizeChoice(line, sizes.first, sizes, algorithm, str(entry.preset or ""), info)

    if any(entry.ranks for entry in entries):
        by_end = {_end(entry.ranks): entry for entry in entries}
        placed = zip(up_to([*by_end]), by_end.values(), strict=True)
        return tuple(CommunicatorGroup(line, span.first, span, (choice(entry, ALL),)) for span, entry in placed)
    spans = up_to([_end(entry.sizes) for entry in entries])
    choices = tuple(choice(entry, span) for entry, span in zip(entries, spans, strict=True))
    return (CommunicatorGroup(line, 0, ALL, choices),)


_MEND = "write each as export I_MPI_ADJUST_BCAST='3:0-4095;0:4096-2147483647'"


class AdjustFile(TuningFile):
    """Read by a shell before a program starts: the library reads variables alone, these since the presets of 2019."""

    name = "intel-mpi.sh"
    title = "Intel MPI's I_MPI_ADJUST variables, for a shell"
    since = (2019,)

    def recognizes(self, text: str) -> bool:
        """It sets such a variable, in a job script say."""
        return re.search(r"\bI_MPI_ADJUST_[A-Z_]+[= ]", text) is not None

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """A line a collective."""
        lines = [f"# {catalogue.title}: source this file before mpiexec.hydra"]
        if counts := sorted({rule.ranks.first for rule in table.rules if rule.predicted}):
            lines.append(f"# rules for {', '.join(map(str, counts))} ranks are predicted, not measured")
        said: list[Rule] = []
        left_out: list[LeftOut] = []
        for collective in dict.fromkeys(rule.collective for rule in table.rules):
            rules = table.rules_for((collective,))
            kept, why = _sayable(rules, catalogue)
            left_out += why
            said += kept
            if kept:
                value = ";".join(map(str, _entries(kept, catalogue)))
                lines.append(f"export I_MPI_ADJUST_{collective.upper()}='{value}'")
        return Written("\n".join(lines) + "\n", replace(table, rules=tuple(said)), tuple(left_out))

    def read(self, text: str, catalogue: Catalogue) -> RuleGrid:
        """What the library chooses with these variables; UserError where it would ignore one."""
        groups: dict[str, _Groups] = {}
        for setting in adjust_settings(text):
            found = parse_value(setting.value) if setting.value is not None else None
            if found is None:
                raise UserError(f"line {setting.line}: {_setting_name(setting)} has no value that can be read", _MEND)
            infos = catalogue.algorithms.get(setting.collective, ())
            groups[setting.collective] = _groups(setting.line, found, infos, catalogue.provider)
        return RuleGrid(groups)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that the library ignores without a word, or understands otherwise than it is written."""
        seen: dict[str, int] = {}
        for setting in adjust_settings(text):
            line, collective, what = setting.line, setting.collective, _setting_name(setting)
            if setting.value is None:
                yield Fault("warning", line, f"{what} has no value that stands here", "it isn't checked", _MEND)
                continue
            if setting.rest:
                first = f"the shell ends {what} at the semicolon: it is '{shortened(setting.value, 60)}'"
                ran = f"the shell runs '{shortened(setting.rest, 60)}' as a command"
                yield Fault("warning", line, printable(first), printable(ran), "put the value in quotes")
            if not setting.exported:
                yield Fault("error", line, f"{what} isn't exported", "programs don't get it", "write export before it")
            if collective in seen:
                yield Fault("warning", line, f"{what} again", f"line {seen[collective]} has no effect", "keep one")
            seen[collective] = line
            if collective not in catalogue.algorithms:
                consequence = "the library says that it isn't supported, or it is of what Timpani doesn't measure"
                yield Fault("warning", line, f"{what} is of no collective known here", consequence, "check its name")
                continue
            found = parse_value(setting.value)
            if found is None:
                shown = printable(shortened(setting.value, 60))
                yield Fault("error", line, f"{what}={shown} can't be read", "the library ignores it whole", _MEND)
                continue
            yield from entry_faults(line, found, [int(info.value) for info in catalogue.algorithms[collective]])

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The variables that the file sets."""
        found = {each.collective: each.value for each in adjust_settings(text) if each.value is not None}
        return tuple((f"I_MPI_ADJUST_{collective.upper()}", value) for collective, value in found.items())


def _setting_name(setting: AdjustSetting) -> str:
    return f"I_MPI_ADJUST_{shortened(setting.collective, 60).upper()}"


def _sayable(rules: Sequence[Rule], catalogue: Catalogue) -> tuple[list[Rule], list[LeftOut]]:
    """One collective's rules as a variable can say them, and what it can't."""
    known = {info.name for info in catalogue.algorithms.get(rules[0].collective, ())}
    sized = any(rule.sizes != ALL for rule in rules)
    several = len({rule.ranks for rule in rules}) > 1
    kept, left_out = [], []
    for rule in rules:
        edges = (rule.sizes.first, rule.sizes.last or 0, rule.ranks.first, rule.ranks.last or 0)
        if not rule.algorithm.is_default and rule.algorithm.name not in known:
            left_out.append(LeftOut(rule, f"{catalogue.title} has no such preset"))
        elif sized and several:
            why = "a variable can distinguish sizes or ranks, not both, and the rules have several of each"
            left_out.append(LeftOut(rule, why))
        elif max(edges) >= LARGEST:
            left_out.append(LeftOut(rule, f"ranges end at {LARGEST}"))
        elif any(differ_by_nodes(rule, other) for other in rules):
            left_out.append(LeftOut(rule, "another rule differs only in its nodes, which a variable can't distinguish"))
        else:
            kept.append(replace(rule, ranks=ALL if sized else rule.ranks, nodes=ALL, per_node=ALL))
            if sized and rule.ranks != ALL:
                why = "a variable can distinguish sizes or ranks, not both: it holds for every number of ranks"
                left_out.append(LeftOut(rule, why))
            if (rule.nodes, rule.per_node) != (ALL, ALL):
                left_out.append(LeftOut(rule, "a variable can't distinguish nodes or ranks per node"))
    return kept, left_out


def _entries(rules: Sequence[Rule], catalogue: Catalogue) -> Iterator[Entry]:
    """Ranges that follow each other from 0 to the end, with preset 0 wherever no rule applies."""
    presets = {info.name: int(info.value) for info in catalogue.algorithms[rules[0].collective]}
    by_ranks = any(rule.ranks != ALL for rule in rules)
    spans = [(rule.ranks if by_ranks else rule.sizes, presets.get(rule.algorithm.name, 0)) for rule in rules]
    starts = {span.first for span, _ in spans} | {span.last + 1 for span, _ in spans if span.last is not None}
    cuts = [*sorted(starts | {0}), LARGEST + 1]
    for start, following in pairwise(cuts):
        preset = next((preset for span, preset in spans if start in span), 0)
        here = Span(start, following - 1)
        yield Entry(preset, Span(0, LARGEST), here) if by_ranks else Entry(preset, here)


def entry_faults(line: int, entries: Sequence[Entry], presets: Sequence[int]) -> Iterator[Fault]:
    """The faults of one variable's value; `presets` are those that the library has."""
    for entry in entries:
        if entry.preset and entry.preset not in presets:
            what = f"preset {entry.preset}, where there are {min(presets)} to {max(presets)}"
            yield Fault("error", line, what, "the library takes its default, without a word", "correct it")
    by_ranks = any(entry.ranks for entry in entries)
    if by_ranks and any(entry.sizes not in (None, Span(0, LARGEST)) for entry in entries):
        what = "sizes in addition to ranks"
        yield Fault("error", line, what, "the library ignores sizes: each entry holds for all of them", "use only one")
    spans = [(entry.ranks if by_ranks else entry.sizes) or Span(0, LARGEST) for entry in entries]
    yield from _ranges(line, spans, "ranks" if by_ranks else "bytes", by_ranks)


def _ranges(line: int, spans: Sequence[Span], unit: str, replaced: bool) -> Iterator[Fault]:
    """Only upper ends count, in the order of the entries."""
    for span in spans:
        if span.last is not None and span.last < span.first:
            what = f"the range {span.first}-{span.last} is reversed"
            yield Fault("warning", line, what, f"it ends at {span.last} {unit}", "write the smaller number first")
    if spans[0].first > 0:
        what = f"nothing is said below {spans[0].first} {unit}"
        consequence = "the first preset holds there too: only upper ends count"
        yield Fault("warning", line, what, consequence, f"begin with 0:0-{spans[0].first - 1}")
    for before, span in pairwise(spans):
        end, following = before.last or 0, span.last or 0
        if following <= end:
            again = replaced and following == end
            consequence = "it replaces the one before" if again else "it is never reached"
            what = f"a range that ends at {following} {unit} after one that ends at {end}"
            yield Fault("error", line, what, consequence, "put ranges in ascending order")
        elif span.first > end + 1:
            what = f"nothing is said from {end + 1} to {span.first - 1} {unit}"
            yield Fault("warning", line, what, "the preset after that holds there", f"say 0:{end + 1}-{span.first - 1}")
        elif span.first <= end:
            what = f"ranges overlap from {span.first} to {end} {unit}"
            yield Fault("warning", line, what, "the first one holds", "let each begin after the one before")
    end = max(span.last or 0 for span in spans)
    if end < LARGEST:
        what = f"nothing is said above {end} {unit}"
        consequence = "the last preset holds there too"
        yield Fault("warning", line, what, consequence, f"end with 0:{end + 1}-{LARGEST}")
