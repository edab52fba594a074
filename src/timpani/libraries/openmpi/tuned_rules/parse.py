"""A rules file's text as the library takes it apart, up to where it gives up."""

from dataclasses import dataclass

from timpani.libraries.openmpi.tuned_rules.collectives import ALL_IDS
from timpani.libraries.openmpi.tuned_rules.numbers import Number, Numbers
from timpani.libraries.tuning_file import Fault
from timpani.study.sizes import LARGEST

IGNORED = "Open MPI silently ignores the whole file and chooses as without it"
REWRITE = "correct it here or above: `timpani tune` writes whole files"


@dataclass(frozen=True)
class MessageRule:
    """From `size` on the algorithm `algorithm`; `requests` is None where the file doesn't say it."""

    line: int
    size: int
    algorithm: int
    topo: int
    segment: int
    requests: int | None


@dataclass(frozen=True)
class CommunicatorRule:
    """From `ranks` ranks on these rules."""

    line: int
    ranks: int
    messages: tuple[MessageRule, ...]


@dataclass(frozen=True)
class CollectiveRules:
    """The rules of one collective, by its id."""

    line: int
    id: int
    communicators: tuple[CommunicatorRule, ...]


@dataclass(frozen=True)
class RunsOver:
    """The first rule that continues in another line where those before had a line each, and the count that it is of.

    announced  how many rules that count says
    before     how many of them stand before this one
    """

    line: int
    last_line: int
    count_line: int
    announced: int
    before: int


def reads_headers(numbers: tuple[int, ...]) -> bool:
    """Whether this version knows `rule-file-version-N`, and MAXREQ; others take its number for a negative one."""
    return numbers >= (5, 0, 7) or (4, 1, 8) <= numbers < (5,)


class GivesUpError(Exception):
    """The library stops reading here and ignores the whole file; the text says why."""


class RulesFile:
    """A text as a library takes it apart that knows headers, or doesn't.

    version      of the format: 1 where there is no header
    collectives  those that stand before the place at which the library gives up, if it does
    gave_up      at the first of these it gives up; what can be read nevertheless is
    numbers      that are written otherwise than people write their value
    words        outside of comments, with their lines
    rest         the line of the first number after the last rule; None without one
    runs_over    where numbers and lines do not fit, which shows that a count is wrong; None where they do
    """

    def __init__(self, text: str, headers: bool) -> None:
        self._source = Numbers(text)
        self._one_a_line = False
        self.version = 1
        self.collectives: list[CollectiveRules] = []
        self.gave_up: list[Fault] = []
        self.numbers: list[Number] = []
        self.words = self._source.words
        self.rest: int | None = None
        self.runs_over: RunsOver | None = None
        try:
            if headers:
                self.version = self._source.header() or 1
            self._read_collectives()
            if following := self._source.next():
                self.rest = following.line
        except GivesUpError as stop:
            self.gave_up.append(Fault("error", self._source.line(), str(stop), IGNORED, REWRITE))

    def _read_collectives(self) -> None:
        count = self._number("the number of collectives")
        if count.value > ALL_IDS:
            raise GivesUpError(f"{count.value} collectives are more than there are, {ALL_IDS}")
        for _ in range(count.value):
            name = self._number("a collective's id")
            if name.value >= ALL_IDS:
                raise GivesUpError(f"there is no collective {name.value}; the largest id is {ALL_IDS - 1}")
            sizes = self._number("the number of communicator sizes")
            communicators = tuple(self._communicator() for _ in range(sizes.value))
            self.collectives.append(CollectiveRules(name.line, name.value, communicators))

    def _communicator(self) -> CommunicatorRule:
        ranks = self._number("a communicator size", LARGEST)
        count = self._number("the number of message sizes")
        messages = tuple(self._message(number, count) for number in range(count.value))
        return CommunicatorRule(ranks.line, ranks.value, messages)

    def _message(self, before: int, count: Number) -> MessageRule:
        size = self._number("a message size")
        algorithm = self._number("an algorithm's id", LARGEST)
        topo = self._number("a fan-out", LARGEST)
        segment = self._number("a segment size", LARGEST)
        if size.line == segment.line:
            self._one_a_line = True
        elif self._one_a_line and not self.runs_over:
            self.runs_over = RunsOver(size.line, segment.line, count.line, count.value, before)
        requests = None
        if self.version > 1 and self._source.digit_follows():
            requests = self._number("a number of requests", LARGEST).value
        if not before and size.value:
            fix = "put the line `0 0 0 0` before it, and count one message size more"
            what = f"the first message size is {size.value} and not 0"
            self.gave_up.append(Fault("error", size.line, what, IGNORED, fix))
        return MessageRule(size.line, size.value, algorithm.value, topo.value, segment.value, requests)

    def _number(self, what: str, most: int | None = None) -> Number:
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
