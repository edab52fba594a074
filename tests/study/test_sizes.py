"""Sizes as people write them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.study.sizes import BOTH, DOUBLING, LARGEST_SIZE, STEPS, parse_size, parse_sizes, show_size, size_series

sizes = st.integers(0, LARGEST_SIZE)


@given(sizes)
def test_a_shown_size_reads_back(size: int) -> None:
    assert parse_size(show_size(size)) == size


@given(st.lists(sizes, min_size=1))
def test_a_list_is_read_in_order_and_each_size_once(listed: list[int]) -> None:
    assert parse_sizes(",".join(map(str, listed))) == tuple(sorted(set(listed)))


@given(st.integers(1, LARGEST_SIZE), st.integers(1, LARGEST_SIZE), st.integers(2, 1000))
def test_a_range_multiplies_until_its_end(one: int, other: int, factor: int) -> None:
    first, last = sorted((one, other))
    found = parse_sizes(f"{first}:{last}*{factor}")
    assert (found[0], found[-1]) == (first, last)
    assert all(after == before * factor for before, after in pairwise(found[:-1]))
    assert all(after <= before * factor for before, after in pairwise(found))


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 1000))
def test_a_range_adds_until_its_end(one: int, other: int, step: int) -> None:
    first, last = sorted((one, other))
    assert parse_sizes(f"{first}:{last}+{step}") == (*range(first, last, step), last)


def test_the_largest_size_is_named_by_its_unit() -> None:
    with pytest.raises(UserError, match="size 2T is over 1 TiB"):
        parse_size("2T")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64Ki", (65536,)),
        ("8K,8k,8KiB", (8192,)),
        ("1M,1Mi,1MiB,1MB", (10**6, 2**20)),
        ("1kB,2 KiB,3B", (3, 1000, 2048)),
        ("8:1M", tuple(2**power for power in range(3, 21))),
        ("1:1Mi", tuple(2**power for power in range(21))),
        ("0,1:4", (0, 1, 2, 4)),
        ("2:48", (2, 4, 8, 16, 32, 48)),
        ("512:4K+1024", (512, 1536, 2560, 3584, 4096)),
    ],
)
def test_units_and_ranges(text: str, expected: tuple[int, ...]) -> None:
    assert parse_sizes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "1e3",
        "8x",
        "٣",
        "9" * 5000,
        "8:1",
        "0:8",
        "1:8*1",
        "1:8+0",
        "1:",
        "1:8+2*3",
        "1:8+\n2x",
        "0:2147483647+1",
    ],
)
def test_an_invalid_size_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_sizes(text)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_sizes_or_an_error_for_its_user(text: str) -> None:
    try:
        found = parse_sizes(text)
    except UserError:
        return
    assert found == tuple(sorted(set(found)))
    assert found[0] >= 0
    assert found[-1] <= LARGEST_SIZE


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
