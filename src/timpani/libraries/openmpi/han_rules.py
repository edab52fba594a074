"""The rules file of Open MPI's `coll/han`, which on several nodes goes before `coll/tuned`, from 5.0 on.

    file  := NCOLL coll*
    coll  := NAME NLEVELS level*
    level := (intra_node | inter_node | global_communicator) NCONF conf*
    conf  := RANKS NMSG msg*                    (the first RANKS is 1)
    msg   := BYTES COMPONENT [@ALGORITHM]       (the first BYTES is 0; a block's, or the vector's)

At the level `global_communicator` the component `tuned` does the whole call, as the rules of coll/tuned have it, and
`han` does what it does without a file. Read from the source of 5.0.10.

In a lab, by a file that hands broadcasts of 4096 B and more over, 5.0.11 sent 4095 B like its default, 4096 B like the
algorithm of coll/tuned's file, and reductions like its default.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from timpani.errors import printable
from timpani.libraries.catalogue import Catalogue, Parameters
from timpani.libraries.grid import (
    NONE,
    CommunicatorGroup,
    GivesUpError,
    RuleGrid,
    SizeChoice,
    last_reached,
    order_faults,
    with_ranks,
    with_sizes,
)
from timpani.libraries.openmpi.sayable import Sayable
from timpani.libraries.openmpi.tuned import ALL_IDS, LEFT_TO_OTHERS, MAX_LONG, NAMES, REWRITE, han_collectives
from timpani.libraries.tuning_file import Fault, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi, version_numbers
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Rule, SelectionTable, Span, overlap, split_span

_WHOLE = "global_communicator"
_LEVELS = ("intra_node", "inter_node", _WHOLE)
_COMPONENTS = ("self", "basic", "libnbc", "tuned", "sm", "adapt", "han")
_BLANKS = r"(?:[\s\dxX+-]++|#[^\n]*+)++"
_BEGINS = re.compile(rf"{_BLANKS}(?:[a-z_]++{_BLANKS})?(?:{'|'.join((*_LEVELS, *_COMPONENTS))})\b", re.ASCII)
"""Comments and numbers, at most a collective's name, then a level or a component: no other format names these."""

_SIMPLE = ("default", "intra", "simple")
_ALGORITHMS = {
    **dict.fromkeys(("allgather", "bcast", "gather", "scatter"), _SIMPLE),
    **dict.fromkeys(("allreduce", "reduce"), (*_SIMPLE, "reproducible")),
    "barrier": ("default", "simple"),
}
"""Of HAN, by their numbers, as `ompi_info` of 5.0 lists them. For other collectives any name but `default` ends
MPI_Init of 5.0.11 with a segmentation fault."""

_WORD = re.compile(r"#[^\n]*|[^\s#]+")
_OTHER_IDS = ("5", "10", *(str(id) for id in range(16, ALL_IDS)))
_IDS = {**{str(id): name for id, name in NAMES.items()}, **dict(zip(_OTHER_IDS, LEFT_TO_OTHERS, strict=True))}

_COUNT = re.compile(
    r"\+?(?:0[xX](?P<hex>[0-9a-fA-F]{1,15})|(?P<octal>0[0-7]{0,18})|(?P<decimal>[1-9]\d{0,17})|-0+)", re.ASCII
)
"""C's `%li`: a leading zero makes it octal."""

_DECIMAL = re.compile(r"\+?(?P<decimal>\d{1,18})|-0+", re.ASCII)
"""What the library reads sizes and ids as: leading zeros change nothing."""

_BASES = {"hex": 16, "octal": 8, "decimal": 10}
_SEVERAL = Span(2)
"""Nodes on which coll/han does anything."""

_IGNORED = "coll/han says that it could not fully read the file, and does all that it does without"
_SEARCH = "the last one that is small enough is taken, so some rules are never reached"


class HanRules(TuningFile):
    """Open MPI 5.0's and 6's: the same format, in 6 for more collectives; 4.1 does not use HAN by default."""

    name = "openmpi-han.conf"
    title = "Open MPI's rules for coll/han"
    since = (5,)

    def recognizes(self, text: str) -> bool:
        """A level or a component after numbers and at most the name of a collective."""
        return is_hans(text)

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Delegate what was measured on several nodes and coll/tuned's file says: that one names what is left out."""
        collectives = han_collectives(mpi.numbers)
        several = [
            replace(said.rule, algorithm=Algorithm(catalogue.provider, "tuned"), nodes=_SEVERAL, per_node=ALL)
            for said in Sayable.in_version(mpi.numbers, table, catalogue).rules_in_file()
            if said.rule.collective in collectives
            and not said.rule.algorithm.is_default
            and overlap(said.rule.nodes, _SEVERAL)
            and any(overlap(rule.nodes, _SEVERAL) for rule in said.of)
        ]
        said = replace(table, rules=tuple(dict.fromkeys(several)))
        return Written("".join(f"{line}\n" for line in _lines(said, collectives, catalogue.title)), said, ())

    def read(self, text: str, catalogue: Catalogue) -> RuleGrid:
        """The component of a call, or HAN's algorithm, by the last rules for the whole communicator.

        None is HAN's default. What coll/tuned chooses its own file says.
        """
        said = _HanFile(text, catalogue)
        refuse_errors(said.faults)
        collectives = han_collectives(version_numbers(catalogue.version))
        whole = (each for each in said.levels if each.level == _WHOLE and each.collective in collectives)
        return RuleGrid({each.collective: each.groups for each in whole})

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """Structure, order, and collectives that are not HAN's."""
        said = _HanFile(text, catalogue)
        yield from said.faults
        for level in said.levels:
            if level.collective not in han_collectives(mpi.numbers):
                what = f"coll/han does no {level.collective}"
                yield Fault("warning", level.line, what, "these rules do nothing", "remove them")
            yield from order_faults(level.groups, "rules for {} ranks", _SEARCH)
            for group in level.groups:
                yield from order_faults(group.choices, "size {}", _SEARCH)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """Without coll/tuned's own file, what is delegated gets that one's default."""
        return (("coll_han_use_dynamic_file_rules", "1"), ("coll_han_dynamic_rules_filename", str(path)))


@dataclass(frozen=True)
class _Level:
    """A collective at one level: its name, or its id if Timpani has no such collective."""

    line: int
    collective: str
    level: str
    groups: tuple[CommunicatorGroup, ...]


def is_hans(text: str) -> bool:
    """Whether a file begins as those for coll/han do."""
    return _BEGINS.match(text) is not None


class _HanFile:
    """The rules of a text up to the point where the library stops reading, and the faults of its structure."""

    def __init__(self, text: str, catalogue: Catalogue) -> None:
        self._provider = catalogue.provider
        self._words = _numbered_words(text)
        self._ahead: tuple[int, str] | None = None
        self._line = 1
        self.levels: list[_Level] = []
        self.faults: list[Fault] = []
        try:
            self._read_collectives()
            if rest := self._next_word():
                what = "more follows than is announced"
                self.faults.append(Fault("warning", rest[0], what, "it is not read", "correct the counts"))
        except GivesUpError as error:
            self.faults.append(Fault("error", self._line, str(error), _IGNORED, REWRITE))

    def _read_collectives(self) -> None:
        count = self._number("the number of collectives")
        if count < 1:
            raise GivesUpError("there are no collectives")
        for _ in range(count):
            collective = self._one_of("a collective", (*_IDS.values(),), _IDS)
            for _ in range(self._number("the number of levels")):
                level = self._one_of("a level", _LEVELS, dict(zip("012", _LEVELS, strict=True)))
                line, count_of_sizes = self._line, self._number("the number of communicator sizes")
                groups = [self._group(collective, number == 0) for number in range(count_of_sizes)]
                self.levels.append(_Level(line, collective, level, with_ranks(groups, last_reached)))

    def _group(self, collective: str, first: bool) -> CommunicatorGroup:
        ranks = self._number("a communicator size")
        line = self._line
        if ranks < 1:
            raise GivesUpError("no communicator has 0 ranks")
        if first and ranks > 1:
            raise GivesUpError(f"the first communicator size is {ranks} and not 1")
        count = self._number("the number of message sizes")
        choices = [self._choice(collective, number == 0) for number in range(count)]
        return CommunicatorGroup(line, ranks, NONE, with_sizes(choices, last_reached), nodes=_SEVERAL)

    def _choice(self, collective: str, first: bool) -> SizeChoice:
        size = self._number("a message size", _DECIMAL)
        line = self._line
        if first and size > 1:
            raise GivesUpError(f"the first message size is {size} and not 0")
        component = self._one_of("a component", _COMPONENTS, {})
        name = component
        if component == "han" and self._begins("@"):
            name = f"han_{self._algorithm(collective)}".removesuffix("_")
        if self._begins("["):
            while not self._word("the end of a list, ]").endswith("]"):
                pass
        algorithm = None if name == "han" else Algorithm(self._provider, name)
        return SizeChoice(line, size, NONE, algorithm, named=name)

    def _algorithm(self, collective: str) -> str:
        """What stands behind the @, by its name; nothing for the default."""
        if (word := self._word("")) != "@":
            self._ahead = (self._line, word.removeprefix("@"))
        names = _ALGORITHMS.get(collective, ("default",))
        ids = {str(number): name for number, name in enumerate(names)}
        return self._one_of(f"an algorithm of coll/han's {collective}", names, ids).replace("default", "")

    def _next_word(self) -> tuple[int, str] | None:
        """The next word with its line, without reading it; None at the end."""
        self._ahead = self._ahead or next(self._words, None)
        return self._ahead

    def _begins(self, mark: str) -> bool:
        following = self._next_word()
        return following is not None and following[1].startswith(mark)

    def _word(self, what: str) -> str:
        following = self._next_word()
        if following is None:
            raise GivesUpError(f"the file ends where {what} should stand")
        (self._line, found), self._ahead = following, None
        return found

    def _number(self, what: str, form: re.Pattern[str] = _COUNT) -> int:
        found = self._word(what)
        match = form.fullmatch(found)
        if not match:
            raise GivesUpError(f"{what} should stand where {found[:40]!r} does")
        digits = (int(text, _BASES[name]) for name, text in match.groupdict().items() if text)
        return min(next(digits, 0), MAX_LONG)

    def _one_of(self, what: str, names: tuple[str, ...], ids: dict[str, str]) -> str:
        found = self._word(what)
        number = _DECIMAL.fullmatch(found)
        name = ids.get(str(int(number["decimal"] or 0)), "") if number else found
        if name not in names and name not in ids.values():
            raise GivesUpError(f"{found[:40]!r} is not {what}: {', '.join(names)}")
        return name


def _numbered_words(text: str) -> Iterator[tuple[int, str]]:
    """Each with its line, without comments."""
    line, counted = 1, 0
    for match in _WORD.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if not match[0].startswith("#"):
            yield line, match[0]


def _lines(said: SelectionTable, known: Iterable[str], library: str) -> Iterator[str]:
    collectives = [name for name in known if said.rules_for([name])]
    yield f"{len(collectives)}  # collectives; for {printable(f'{library}, from {said.source}')}"
    for name in collectives:
        entries: dict[int, list[tuple[int, str]]] = {}
        for ranks in split_span([rule.ranks for rule in said.rules_for([name])], ALL):
            entries[max(ranks.first, 1)] = _by_size(
                [rule for rule in said.rules_for([name]) if ranks.first in rule.ranks]
            )
        yield from (name, "1  # level", _WHOLE, f"{len(entries)}  # communicator sizes")
        for first, sizes in entries.items():
            yield f"{first} {len(sizes)}  # from {first} ranks"
            yield from (f"{size} {component}" for size, component in sizes)


def _by_size(rules: list[Rule]) -> list[tuple[int, str]]:
    """From which size on which component."""
    found: list[tuple[int, str]] = []
    for size in split_span([rule.sizes for rule in rules], ALL):
        component = "tuned" if any(size.first in rule.sizes for rule in rules) else "han"
        if not found or found[-1][1] != component:
            found.append((size.first, component))
    return found
