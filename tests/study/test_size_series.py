import pytest

from timpani.study.sizes import BOTH, DOUBLING, STEPS, parse_sizes, size_series


def series_of(text: str) -> dict[str, set[int]]:
    found = size_series(parse_sizes(text))
    return {kind: {size for size, its in found.items() if its == kind} for kind in (DOUBLING, STEPS, BOTH)}


def test_equal_steps_and_doubling_sizes_are_distinguished() -> None:
    found = series_of("1:1Mi,512:4Ki+512")
    assert found[STEPS] == {1536, 2560, 3072, 3584}
    assert found[BOTH] == {512, 1024, 2048, 4096}
    assert found[DOUBLING] == {*parse_sizes("1:1Mi")} - found[BOTH]


def test_equal_steps_from_one_byte_are_distinguished_too() -> None:
    found = series_of("1:4Mi,1:4Ki+512")
    assert found[STEPS] == {513, 1025, 1537, 2049, 2561, 3073, 3585}
    assert found[BOTH] == {1}


def test_an_empty_message_belongs_to_the_sizes_that_double_and_to_steps_that_reach_it() -> None:
    assert 0 in series_of("0,1:64Ki,512:4Ki+512")[BOTH]
    assert 0 in series_of("0,1:64Ki,1:4Ki+512")[DOUBLING]


@pytest.mark.parametrize(
    "text", ["1:1Mi", "512:4Ki+512", "8", "1:1000000", "1:1Mi*10", "1,5,7,100,5000", "0:1Mi+64Ki", "3:3000,5,9"]
)
def test_fewer_than_two_series_are_not_distinguished(text: str) -> None:
    assert size_series(parse_sizes(text)) == {}
