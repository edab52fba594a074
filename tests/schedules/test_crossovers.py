"""From where on another algorithm has to be taken, among those that may be the fastest."""

import polars as pl
import pytest

from timpani.schedules.predict.output import crossovers


@pytest.mark.parametrize(
    ("tied", "expected"),
    [
        (["a", "a", "a"], []),
        (["a", "b"], ["bcast on 4 ranks: a from 1 B, b from 2 B"]),
        (["ab", "ba", "b", "b"], ["bcast on 4 ranks: a from 1 B, b from 4 B"]),  # a may be as fast at 2 B
        (["ab", "bc", "cd"], ["bcast on 4 ranks: a from 1 B, b from 2 B, c from 4 B"]),
        (["ab", "c", "ab"], ["bcast on 4 ranks: a from 1 B, c from 2 B, a from 4 B"]),
    ],
)
def test_an_algorithm_that_ties_continues_its_range(tied: list[str], expected: list[str]) -> None:
    rows = [
        {"collective": "bcast", "ranks": 4, "message_bytes": 2**number, "label": each[0], "tied": list(each)}
        for number, each in enumerate(tied)
    ]
    assert list(crossovers(pl.DataFrame(rows))) == expected
