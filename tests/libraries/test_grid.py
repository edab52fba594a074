"""Spans of a grid decide as the search of the library that reads the file does."""

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from timpani.libraries.grid import last_reached, until_larger, up_to
from timpani.study.selection import Span

NUMBERS = st.lists(st.integers(0, 9), min_size=1, max_size=6)


def decided(spans: list[Span], number: int) -> list[int]:
    return [place for place, span in enumerate(spans) if number in span]


@given(NUMBERS, st.integers(0, 11))
def test_a_search_that_stops_at_the_first_start_that_is_too_large(starts: list[int], number: int) -> None:
    reached = list(takewhile(lambda place: starts[place] <= number, range(len(starts))))
    assert decided(until_larger(starts), number) == [reached[-1] if reached else 0]


@given(NUMBERS, st.integers(0, 11))
def test_a_search_for_the_last_start_that_is_not_too_large(starts: list[int], number: int) -> None:
    reached = [place for place, start in enumerate(starts) if start <= number]
    assert decided(last_reached(starts), number) == reached[-1:]


@given(NUMBERS, st.integers(0, 11))
def test_a_search_for_the_first_end_that_is_not_too_small(ends: list[int], number: int) -> None:
    reached = [place for place, end in enumerate(ends) if number <= end]
    assert decided(up_to(ends), number) == [reached[0] if reached else len(ends) - 1]
