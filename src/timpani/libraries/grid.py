"""The grid of a tuning file: groups of communicators, and in each group choices by size.

Formats differ in how they write numbers and order. A parser translates both into spans, so that in every format the
first group and the first choice that fit a call decide it. An empty span (its end lies before its start) fits no call.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

from timpani.libraries.catalogue import AlgorithmInfo
from timpani.libraries.tuning_file import Fault, name_fix
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Span, split_span

NONE = Span(1, 0)
"""A span without a number."""


@dataclass(frozen=True)
class SizeChoice:
    """What a file chooses for calls of some sizes.

    start      the number that the file writes
    sizes      the sizes that it decides, as the file counts them, unless an earlier choice does
    algorithm  None: the library chooses
    named      the algorithm in the file's words; "": the file leaves the choice to the library
    info       the catalogue's entry of the algorithm; None: no algorithm, or an unknown one
    values     the algorithm's parameters by the file's fields; None: the file does not give the field
    skipped    whether the library reads on as if the choice was not there
    """

    line: int
    start: int
    sizes: Span
    algorithm: Algorithm | None
    named: str = ""
    info: AlgorithmInfo | None = None
    values: Mapping[str, int | None] = field(default_factory=dict)
    skipped: bool = False


@dataclass(frozen=True)
class CommunicatorGroup:
    """Choices for communicators of some numbers of ranks, on some numbers of nodes.

    start  the number of ranks that the file writes
    """

    line: int
    start: int
    ranks: Span
    choices: tuple[SizeChoice, ...]
    nodes: Span = ALL
    per_node: Span = ALL

    def fits(self, call: Call) -> bool:
        """Whether it decides `call`, unless an earlier group does."""
        return call.ranks in self.ranks and call.nodes in self.nodes and call.per_node in self.per_node

    def choice(self, size: int) -> SizeChoice | None:
        """The choice for calls of `size` bytes as the file counts them."""
        return next((each for each in self.choices if size in each.sizes and not each.skipped), None)

    @property
    def chooses(self) -> bool:
        """Whether it names any algorithm."""
        return any(each.named for each in self.choices)

    def by_size(self) -> Iterator[tuple[int, SizeChoice | None]]:
        """From which size on which choice decides; None: the library."""
        for span in split_span([each.sizes for each in self.choices if each.sizes.first <= _end(each.sizes)], ALL):
            yield span.first, self.choice(span.first)


@dataclass(frozen=True)
class RuleGrid:
    """The choices of a file, by collective; `compared` is the size of a call as the file counts it."""

    groups: Mapping[str, tuple[CommunicatorGroup, ...]]
    compared: Callable[[Call], int] = lambda call: call.message_bytes

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm for `call`; None: the library's default."""
        group = next((each for each in self.groups.get(call.collective, ()) if each.fits(call)), None)
        choice = group.choice(self.compared(call)) if group else None
        return choice.algorithm if choice else None


class GivesUpError(Exception):
    """The library stops reading a file here; the text says why."""


def until_larger(starts: Sequence[int]) -> list[Span]:
    """What entries decide if the search stops at the first start that is too large; all below belongs to the first."""
    spans, highest = [], 0
    for number, start in enumerate(starts):
        highest = max(highest, start)
        first, following = (highest if number else 0), starts[number + 1 : number + 2]
        end = max(following[0], 0 if number else start) - 1 if following else None
        spans.append(Span(first, end))
    return spans


def last_reached(starts: Sequence[int]) -> list[Span]:
    """What entries decide if the last start that is not too large counts."""
    return [
        Span(start, min(starts[number + 1 :]) - 1 if starts[number + 1 :] else None)
        for number, start in enumerate(starts)
    ]


def up_to(ends: Sequence[int]) -> list[Span]:
    """What entries decide if the first end that is not too small counts; all above belongs to the last."""
    firsts = [max(ends[:number], default=-1) + 1 for number in range(len(ends))]
    return [Span(first, end) for first, end in zip(firsts, [*ends[:-1], None], strict=True)] if ends else []


Search = Callable[[Sequence[int]], Sequence[Span]]
"""What entries decide, by the numbers that a file writes for them."""


def with_ranks(groups: Sequence[CommunicatorGroup], search: Search) -> tuple[CommunicatorGroup, ...]:
    """`groups` with the ranks that they decide by a library's search."""
    spans = search([each.start for each in groups])
    return tuple(replace(each, ranks=span) for each, span in zip(groups, spans, strict=True))


def with_sizes(choices: Sequence[SizeChoice], search: Search) -> tuple[SizeChoice, ...]:
    """`choices` with the sizes that they decide by a library's search."""
    spans = search([each.start for each in choices])
    return tuple(replace(each, sizes=span) for each, span in zip(choices, spans, strict=True))


class _Placed(Protocol):
    @property
    def line(self) -> int: ...
    @property
    def start(self) -> int: ...


def order_faults(entries: Iterable[_Placed], words: str, consequence: str) -> Iterator[Fault]:
    """Starts that do not ascend; `words` has `{}` for a number."""
    for before, after in pairwise(entries):
        if after.start <= before.start:
            what = f"{words.format(after.start)} after {before.start}"
            yield Fault("warning", after.line, what, consequence, "sort them in ascending order, each once")


def unknown_name(name: str, known: Sequence[str], library: str, collective: str) -> tuple[str, str]:
    """What is wrong with the unknown algorithm `name`, and how to correct it."""
    what = f"{library} has no {collective} algorithm {name}"
    return what, name_fix(name, known, f"choose one of {', '.join(known)}")


def covers(one: Span, other: Span) -> bool:
    """Whether all numbers of `other` lie in `one`."""
    return one.first <= other.first and _end(other) <= _end(one)


def _end(span: Span) -> float:
    return float("inf") if span.last is None else span.last
