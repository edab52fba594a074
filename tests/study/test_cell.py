"""Algorithms as people write them and as records keep them."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.study.cell import Algorithm, Cell, each_of, parse_parameters, split_algorithms
from timpani.study.schema import ALGORITHM, CELL, CURVE, MACHINE_CELL, POINT, SWEEP, cell_columns, cell_of

names = st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True)
parameters = st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.integers(-(2**31), 2**31))
algorithms = st.builds(
    lambda provider, name, pairs: Algorithm(provider, name, tuple(sorted(pairs.items()))),
    st.from_regex(r"[a-z0-9]*", fullmatch=True),
    names,
    parameters,
)


@given(algorithms)
def test_a_written_algorithm_reads_back(algorithm: Algorithm) -> None:
    assert Algorithm.parse(str(algorithm)) == algorithm
    assert parse_parameters(algorithm.parameter_text) == algorithm.parameters


def test_the_order_of_parameters_does_not_matter() -> None:
    assert Algorithm.parse("chain:segment_bytes=8,fanout=4") == Algorithm.parse(" chain:fanout=4, segment_bytes=8 ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b/c",
        "Open/ring",
        "ring:fanout=x",
        "ring:fanout=1,fanout=2",
        "two words",
        "ring:fanout=1\n,x=2x",
        f"ring:fanout={'9' * 5000}",
    ],
)
def test_an_invalid_algorithm_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as caught:
        Algorithm.parse(text)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_an_algorithm_or_an_error_for_its_user(text: str) -> None:
    try:
        algorithm = Algorithm.parse(text)
    except UserError:
        return
    assert Algorithm.parse(str(algorithm)) == algorithm


@pytest.mark.parametrize(
    ("text", "algorithms"),
    [
        ("chain", ["chain"]),
        ("chain:fanout=4", ["chain:fanout=4"]),
        ("openmpi/chain:segment_bytes=4Ki:64Ki*4", [f"openmpi/chain:segment_bytes={n}" for n in (4096, 16384, 65536)]),
        ("chain:fanout=2:4,segment_bytes=0", ["chain:fanout=2,segment_bytes=0", "chain:fanout=4,segment_bytes=0"]),
        ("a:x=1:2,y=3:5+1", [f"a:x={x},y={y}" for x in (1, 2) for y in (3, 4, 5)]),
    ],
)
def test_a_series_stands_for_an_algorithm_of_each_value(text: str, algorithms: list[str]) -> None:
    assert list(each_of(text)) == algorithms


def test_a_list_of_algorithms_may_hold_series() -> None:
    assert split_algorithms("default,chain:segment_bytes=4K:16K*4,fanout=2:4,ring") == (
        "default",
        "chain:segment_bytes=4K:16K*4,fanout=2:4",
        "ring",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [("a:x=4:2", "downwards"), ("a:x=0:8", "increase"), ("a:x=1:9z", "'9z' is not a value"), ("a:x=1:2000+1", "1000")],
)
def test_an_invalid_series_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        list(each_of(text))


CHAIN = Cell("bcast", Algorithm("openmpi", "chain", (("fanout", 4), ("segment_bytes", 8))), 2, "core", 64, "warm")


def test_the_columns_of_a_cell_name_it_whole() -> None:
    assert tuple(cell_columns(CHAIN)) == CELL
    assert cell_of(cell_columns(CHAIN)) == CHAIN
    assert set(CELL) == {field.name for field in fields(Cell)} | set(ALGORITHM)


def test_keys_say_the_same_things() -> None:
    """An algorithm at a point is a cell, and so is a curve at a size."""
    assert {*POINT, *ALGORITHM} == {*CURVE, "message_bytes"} == {*SWEEP, *ALGORITHM, "message_bytes"} == {*MACHINE_CELL}
