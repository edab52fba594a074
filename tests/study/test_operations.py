"""The operations' table, and what is known from it."""

import pytest

from timpani.native_sources import sources
from timpani.study.operations import COLLECTIVES, OPERATIONS, read_operations

TABLE = (sources() / "collectives" / "operations.def").read_text()


def test_collectives_come_first_and_null_counts_as_one() -> None:
    assert list(OPERATIONS)[: len(COLLECTIVES)] == list(COLLECTIVES)
    assert list(COLLECTIVES)[-1] == "null"


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        ("COLLECTIVE(bcast", ("root, vector", "boot, vector")),
        ("OPERATION(latency", ("point_to_point", "tip_to_toe")),
        ("WAY(transpose, packed", ("competitor", "rival")),
    ],
)
def test_a_word_that_means_nothing_is_refused(row: str, changed: tuple[str, str]) -> None:
    lines = [line.replace(*changed) if line.startswith(row) else line for line in TABLE.splitlines()]
    assert "\n".join(lines) != TABLE.removesuffix("\n")
    with pytest.raises((ValueError, KeyError)):
        read_operations("\n".join(lines))
