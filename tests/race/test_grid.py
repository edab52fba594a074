"""Races over sizes and rank counts, on a machine whose times are known."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import inf

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.raced import SAMPLE_LAUNCHES
from timpani.race.agenda import Racing
from timpani.race.grid import algorithms_to_sample, coarse, contradicts_expectation
from timpani.race.race import Standing
from timpani.stats.regret import MIN_LAUNCHES
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.point_weights import Point

NAMES = (DEFAULT, "linear", "binomial", "chain", "pipeline", "scatter", "ring")
SIZES = [8, 64, 512, 4096, 32768]
RANKS = [2, 4, 6, 8, 12, 16, 32]

Times = Callable[[str, int, int], float]
"""By name, ranks and size; infinite where nothing can be measured."""

Measured = dict[tuple[int, int], list[set[str]]]
"""By ranks and size the algorithms of each launch that measured there."""


def race(
    times: Times,
    ranks: Sequence[int] = RANKS,
    sizes: Sequence[int] = SIZES,
    launches: int = 64,
    launched: Callable[[int, int], None] = lambda launch, ranks: None,
) -> Measured:
    """A whole race; `launched` gets each launch and rank count of a result."""
    cells = [
        Cell("bcast", Algorithm("openmpi", name), count, "core", size, "warm")
        for name in NAMES
        for count in ranks
        for size in sizes
    ]
    agenda = Racing(cells, launches=launches, regret=0.02)
    random = np.random.default_rng(1)
    measured: defaultdict[tuple[int, int], list[set[str]]] = defaultdict(list)
    for launch in range(1, launches + 1):
        together: defaultdict[Point, set[str]] = defaultdict(set)
        for cell in sorted(agenda.wanted(launch), key=str):
            together[Point.from_cell(cell)].add(cell.algorithm.name)
            launched(launch, cell.ranks)
            taken = times(cell.algorithm.name, cell.ranks, cell.message_bytes) * random.lognormal(0, 0.002)
            turn = f"{launch}/{cell.ranks}-{cell.message_bytes}"
            if taken < inf:
                agenda.take(LaunchResult(cell, launch, "here", median_us=taken, interleaving=turn, relative=taken))
            else:
                agenda.take(LaunchResult(cell, launch, "here", error="timed out"))
        for point, names in together.items():
            here = measured[point.ranks, point.message_bytes]
            here.append(names)
            assert (point in agenda.sampled_points(launch)) == (set.union(*here) != set(NAMES))
    assert not agenda.wanted(launches + 1)
    return measured


def crossing(most_ranks: int, most_bytes: int) -> Times:
    """Binomial is best up to these ranks and bytes, chain above."""

    def time(name: str, ranks: int, size: int) -> float:
        if name == _best(ranks, size):
            return 1.0
        return 1.3 if name == DEFAULT else 1.5 + NAMES.index(name) / 10

    def _best(ranks: int, size: int) -> str:
        return "binomial" if ranks <= most_ranks and size <= most_bytes else "chain"

    return time


def by_default(name: str, ranks: int, size: int) -> float:
    return 1.0 if name == DEFAULT else 2.0


def with_all_algorithms(measured: Measured) -> set[tuple[int, int]]:
    return {point for point, launches in measured.items() if set.union(*launches) == set(NAMES)}


def test_rank_counts_between_equal_choices_are_only_sampled() -> None:
    measured = race(by_default)
    assert with_all_algorithms(measured) == {(ranks, size) for ranks in (2, 8, 32) for size in SIZES}
    between = {point: launches for point, launches in measured.items() if point[0] not in (2, 8, 32)}
    assert len(between) == 4 * len(SIZES)
    assert all(len(launches) == SAMPLE_LAUNCHES for launches in between.values())


def test_a_boundary_between_rank_counts_is_measured_to_a_factor_of_two() -> None:
    measured = race(crossing(12, 1 << 20))
    assert {ranks for ranks, _ in with_all_algorithms(measured)} == {2, 8, 16, 32}
    assert set.union(*measured[12, 512]) >= {DEFAULT, "binomial", "chain"}, "the best on 8 ranks, and the best on 16"


def test_a_point_that_cannot_be_measured_keeps_none_waiting() -> None:
    started: defaultdict[int, set[int]] = defaultdict(set)
    measured = race(
        lambda name, ranks, size: inf if (ranks, size) == (8, 64) else by_default(name, ranks, size),
        sizes=[8, 16, 64],
        launched=lambda launch, ranks: started[ranks].add(launch),
    )
    assert max(started[4] | started[12]) < 64 - SAMPLE_LAUNCHES
    assert all(len(measured[ranks, 8]) == SAMPLE_LAUNCHES for ranks in (4, 6, 12, 16))


def test_a_rank_count_that_is_found_otherwise_is_measured_with_all_algorithms() -> None:
    def slow_on_six(name: str, ranks: int, size: int) -> float:
        return 3.0 if (name, ranks, size) == (DEFAULT, 6, 512) else by_default(name, ranks, size)

    found = with_all_algorithms(race(slow_on_six)) - with_all_algorithms(race(by_default))
    assert found == {(6, 512)}


def test_rank_counts_that_are_not_reached_are_sampled_in_the_last_launches() -> None:
    ranks = list(range(1, 33))
    measured = race(crossing(13, 1 << 20), ranks, [8], launches=8)
    assert set(measured) == {(count, 8) for count in ranks}
    assert len(with_all_algorithms(measured)) < 6


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6, unique=True).map(sorted),
    st.lists(st.integers(0, 9).map(lambda i: 4**i), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(1, 40),
    st.integers(0, 9).map(lambda i: 4**i),
)
def test_every_rank_count_and_size_is_measured_or_sampled(
    ranks: list[int], sizes: list[int], most_ranks: int, most_bytes: int
) -> None:
    times = crossing(most_ranks, most_bytes)
    measured = race(times, ranks, sizes)
    assert set(measured) == {(count, size) for count in ranks for size in sizes}
    for (count, size), launches in measured.items():
        assert min(NAMES, key=lambda name: times(name, count, size)) in launches[-1]


def test_a_hard_point_is_measured_if_more_launches_or_any_price_are_allowed() -> None:
    cells = [Cell("bcast", Algorithm("openmpi", name), 2, "core", 8, "warm") for name in NAMES]
    random = np.random.default_rng(1)
    few, more = (Racing(cells, launches=launches, regret=0.02) for launches in (MIN_LAUNCHES + 1, 32))
    at_any_price = Racing(cells, launches=MIN_LAUNCHES + 1, regret=0.02, at_any_price=True)
    for launch in range(1, MIN_LAUNCHES + 1):
        for cell in cells:
            taken = random.lognormal(0, 0.015)
            for agenda in (few, more, at_any_price):
                agenda.take(
                    LaunchResult(cell, launch, "here", median_us=taken, interleaving=f"{launch}", relative=taken)
                )
        assert few.wanted(launch) == more.wanted(launch) == set(cells)
    assert not few.wanted(MIN_LAUNCHES + 1)
    assert more.wanted(MIN_LAUNCHES + 1)
    assert at_any_price.wanted(MIN_LAUNCHES + 1)


def algorithm(name: str) -> Algorithm:
    return Algorithm("openmpi", name)


def standing(done: bool, *acceptable: str, **excess: float) -> Standing:
    """Of a point with six launches, or, where `excess` is given, one that was sampled in three."""
    seems = {algorithm(name): excess.get(name, 0.5) for name in (DEFAULT, "a", "b", "c")}
    seems |= {algorithm(name): excess.get(name, 0.0) for name in acceptable}
    return Standing(
        3 if excess else 6,
        algorithm(acceptable[0]),
        0.01,
        done,
        frozenset(map(algorithm, acceptable)),
        frozenset(),
        {},
        seems,
    )


def test_a_race_begins_with_values_far_apart() -> None:
    assert coarse([1 << i for i in range(21)], 8) == [1, 8, 64, 512, 4096, 32768, 1 << 20]
    assert coarse([0], 8) == [0]
    assert coarse([0, 1, 8], 8) == [0, 8]
    assert coarse([2, 4, 6, 8, 12, 16, 64], 4) == [2, 8, 64]


def test_points_between_two_sample_common_algorithms_or_both_choices() -> None:
    both = algorithms_to_sample([standing(True, "a", "b"), standing(True, "b")])
    assert {each.name for each in both} == {DEFAULT, "a", "b"}
    either = algorithms_to_sample([standing(True, "a", b=0.3), standing(True, "c", b=0.3)])
    assert {each.name for each in either} == {DEFAULT, "a", "b", "c"}


def test_a_point_is_otherwise_where_all_that_was_expected_seems_slower_than_another() -> None:
    expected = {algorithm(DEFAULT)}
    assert contradicts_expectation(standing(False, "a", default=1.6), expected)
    assert not contradicts_expectation(standing(False, DEFAULT, a=0.01), expected)
    assert not contradicts_expectation(standing(False, "a", default=0.04), expected)
