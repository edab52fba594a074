"""Spans that are cut at each other's ends."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from timpani.tuning.decide.selection_table import Span


def cut_up(spans: Collection[Span], whole: Span) -> Iterator[Span]:
    """The parts of `whole` in which each number is in the same of `spans` as its neighbours."""
    cuts = {whole.first, *(each.first for each in spans), *(each.last + 1 for each in spans if each.last is not None)}
    inside = sorted(cut for cut in cuts if cut in whole)
    for first, following in pairwise(inside):
        yield Span(first, following - 1)
    yield Span(inside[-1], whole.last)


def overlap(one: Span, other: Span) -> bool:
    """Whether any number is in both."""
    return one.first in other or other.first in one


def words(span: Span) -> str:
    """As `4`, `4 to 8`, `4 or more`, `any`."""
    if span.last is None:
        return f"{span.first} or more" if span.first else "any"
    return str(span.first) if span.first == span.last else f"{span.first} to {span.last}"
