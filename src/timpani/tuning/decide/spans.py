"""Splitting and showing spans of numbers."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from timpani.tuning.decide.selection_table import Span


def split_span(spans: Collection[Span], whole: Span) -> Iterator[Span]:
    """The parts of `whole` between neighboring ends of `spans`: all numbers of a part lie in the same spans."""
    cuts = {whole.first, *(each.first for each in spans), *(each.last + 1 for each in spans if each.last is not None)}
    inside = sorted(cut for cut in cuts if cut in whole)
    for first, following in pairwise(inside):
        yield Span(first, following - 1)
    yield Span(inside[-1], whole.last)


def overlap(one: Span, other: Span) -> bool:
    """Whether a number lies in both spans."""
    return one.first in other or other.first in one


def common_part(one: Span, other: Span) -> Span | None:
    """The numbers that lie in both spans; None if no number does."""
    lasts = [each.last for each in (one, other) if each.last is not None]
    part = Span(max(one.first, other.first), min(lasts) if lasts else None)
    return part if part.last is None or part.first <= part.last else None


def show_span(span: Span) -> str:
    """The span as `4`, `4 to 8`, `4 or more` or `any`."""
    if span.last is None:
        return f"{span.first} or more" if span.first else "any"
    return str(span.first) if span.first == span.last else f"{span.first} to {span.last}"
