"""Algorithms as people write them and as records keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.study.cell import Algorithm, parse_parameters

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
