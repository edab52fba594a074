"""A file for coll/han as the library takes it apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from timpani.libraries.openmpi.tuned_rules.collectives import ALL_IDS, LEFT_TO_OTHERS, MAX_LONG, NAMES
from timpani.libraries.openmpi.tuned_rules.parse import REWRITE, GivesUpError
from timpani.libraries.tuning_file import Fault

WHOLE = "global_communicator"
_LEVELS = ("intra_node", "inter_node", WHOLE)
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
_IGNORED = "coll/han says that it could not fully read the file, and does all that it does without"


@dataclass(frozen=True)
class Message:
    """From `size` on the component does it; `algorithm` is one of HAN's own, or nothing for its default."""

    line: int
    size: int
    component: str
    algorithm: str


@dataclass(frozen=True)
class Communicators:
    """From `ranks` ranks on."""

    line: int
    ranks: int
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Level:
    """A collective at one level: its name, or its id if Timpani has no such collective."""

    line: int
    collective: str
    level: str
    communicators: tuple[Communicators, ...]


def is_hans(text: str) -> bool:
    """Whether a file begins as those for coll/han do."""
    return _BEGINS.match(text) is not None


class HanFile:
    """The rules of a text up to the point where the library stops reading, and the faults of its structure."""

    def __init__(self, text: str) -> None:
        self._words = _numbered_words(text)
        self._ahead: tuple[int, str] | None = None
        self._line = 1
        self.levels: list[Level] = []
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
                found = tuple(self._communicators(collective, number == 0) for number in range(count_of_sizes))
                self.levels.append(Level(line, collective, level, found))

    def _communicators(self, collective: str, first: bool) -> Communicators:
        ranks = self._number("a communicator size")
        line = self._line
        if ranks < 1:
            raise GivesUpError("no communicator has 0 ranks")
        if first and ranks > 1:
            raise GivesUpError(f"the first communicator size is {ranks} and not 1")
        count = self._number("the number of message sizes")
        return Communicators(line, ranks, tuple(self._message(collective, number == 0) for number in range(count)))

    def _message(self, collective: str, first: bool) -> Message:
        size = self._number("a message size", _DECIMAL)
        line = self._line
        if first and size > 1:
            raise GivesUpError(f"the first message size is {size} and not 0")
        component = self._one_of("a component", _COMPONENTS, {})
        algorithm = ""
        if component == "han" and self._begins("@"):
            algorithm = self._algorithm(collective)
        if self._begins("["):
            while not self._word("the end of a list, ]").endswith("]"):
                pass
        return Message(line, size, component, algorithm)

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
