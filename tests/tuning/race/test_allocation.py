"""How many rounds a race's next launch takes at a point."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timpani.study.cell import DEFAULT, Algorithm
from timpani.tuning.race.allocation import MAX_ROUNDS, MIN_ROUNDS, AlgorithmBursts, Allocation
from timpani.tuning.race.race import LaunchTime, Race, RacePoint

ALGORITHMS = [Algorithm("openmpi", name) for name in (DEFAULT, "linear", "ring")]
BURST_S, SETUP_S = 1e-4, 1e-3


def at(size: int, ranks: int = 2) -> RacePoint:
    return RacePoint("bcast", ranks, "core", size, "warm")


def seen(
    points: Sequence[RacePoint], launches: int, between: float, within: float, further: int = 0
) -> tuple[Race, Allocation]:
    """Launches of ten rounds, with these deviations of a time between launches and of one between rounds, and how many
    further ones there may be."""
    random = np.random.default_rng(1)
    race, allocation = Race(0.1, dict.fromkeys(points, ALGORITHMS)), Allocation(launches + further)
    for launch in range(1, launches + 1):
        errors = random.normal(0, np.hypot(between, within / np.sqrt(10)), (len(points), len(ALGORITHMS)))
        race.add_launch(
            launch,
            [
                LaunchTime(point, algorithm, f"{launch}", float(np.exp(error)), 1.0)
                for point, row in zip(points, errors, strict=True)
                for algorithm, error in zip(ALGORITHMS, row, strict=True)
            ],
        )
        allocation.add_launch(turns(points, within))
    return race, allocation


def turns(points: Sequence[RacePoint], within: float) -> Iterator[AlgorithmBursts]:
    for point in points:
        for algorithm in ALGORITHMS:
            yield AlgorithmBursts(point, algorithm, 10, within**2, BURST_S, SETUP_S)


def test_the_dearer_a_start_the_longer_a_launch_stays() -> None:
    race, allocation = seen([at(8)], 8, between=0.02, within=0.1)
    cheap, dear = (allocation.rounds(race, {at(8): ALGORITHMS}, start_s)[at(8)] for start_s in (0.01, 1.0))
    assert dear == pytest.approx(np.sqrt((1.0 + 3 * SETUP_S) / (3 * BURST_S) * 0.1**2 / 0.02**2), rel=0.5)
    assert cheap == pytest.approx(dear * np.sqrt(0.013 / 1.003), rel=0.1)


def test_points_that_share_a_start_share_its_cost() -> None:
    points = [at(size) for size in (8, 64, 512, 4096)]
    race, allocation = seen(points, 8, between=0.02, within=0.1)
    alone = allocation.rounds(race, {at(8): ALGORITHMS}, 1.0)[at(8)]
    together = allocation.rounds(race, dict.fromkeys(points, ALGORITHMS), 1.0)[at(8)]
    assert together == pytest.approx(alone / 2, rel=0.1)


def test_a_launch_is_short_where_launches_differ_more_than_rounds() -> None:
    race, allocation = seen([at(8)], 8, between=0.1, within=0.001)
    assert allocation.rounds(race, {at(8): ALGORITHMS}, 0.1) == {at(8): MIN_ROUNDS}


def test_a_launch_is_no_longer_than_should_be_enough() -> None:
    at_last, with_looks_left = (
        allocation.rounds(race, {at(8): ALGORITHMS}, 100.0)[at(8)]
        for race, allocation in (seen([at(8)], 4, between=0.01, within=0.1, further=further) for further in (0, 20))
    )
    assert MIN_ROUNDS <= with_looks_left < at_last


def test_a_new_size_is_taken_for_the_nearest_one() -> None:
    race, allocation = seen([at(8), at(4096)], 4, between=0.02, within=0.1)
    for new, near in ((at(16), at(8)), (at(2048), at(4096))):
        known = allocation.rounds(race, {near: ALGORITHMS}, 1.0)
        assert allocation.rounds(race, {new: ALGORITHMS}, 1.0) == {new: known[near]}


@pytest.mark.parametrize(("launches", "asked"), [(0, at(8)), (1, at(8)), (4, at(8, ranks=4))])
def test_two_launches_set_no_number_of_rounds(launches: int, asked: RacePoint) -> None:
    race, allocation = seen([at(8)], launches, between=0.02, within=0.1)
    race = race if asked in race.points() else Race(0.02, {at(8): ALGORITHMS, asked: ALGORITHMS})
    assert allocation.rounds(race, {asked: ALGORITHMS}, 1.0) == {}


@settings(max_examples=30)
@given(st.integers(2, 6), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e4))
def test_rounds_stay_within_what_a_launch_can_have(
    launches: int, between: float, within: float, start_s: float
) -> None:
    race, allocation = seen([at(8)], launches, between, within)
    for rounds in allocation.rounds(race, {at(8): ALGORITHMS}, start_s).values():
        assert MIN_ROUNDS <= rounds <= MAX_ROUNDS
