"""Where a race ends a point undecided."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.race.futility import Futility, Prospect
from timpani.race.race import LaunchTime, PairedDifference, Race
from timpani.stats.regret import ANALYSES, MIN_LAUNCHES
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.point_weights import Point

ALGORITHMS = [Algorithm("openmpi", name) for name in (DEFAULT, "linear", "ring", "chain")]
OPEN, *SETTLED = (Point("bcast", 2, "core", size, "warm") for size in range(12))


def raced(launches: int, most: int | None, deviation: float, points: Sequence[Point] = (OPEN,)) -> Futility:
    """A race in which all are equal at OPEN, and the default is twice as fast at the other `points`."""
    random = np.random.default_rng(1)
    race = Race(0.02, dict.fromkeys(points, ALGORITHMS))
    futility = Futility(race, most)
    for launch in range(1, launches + 1):
        remaining = {point: race.standing(point).remaining for point in points}
        race.add_launch(
            launch,
            [
                LaunchTime(point, each, "t", time * random.lognormal(0, deviation), 1.0)
                for point in points
                for each in ALGORITHMS
                if each in remaining[point]
                for time in [1.0 if point == OPEN or each.is_default else 2.0]
            ],
        )
        futility.add_launch(launch)
    return futility


gaps = st.builds(
    PairedDifference,
    launches=st.integers(2, 40),
    slower=st.floats(-0.05, 0.3),
    margin=st.floats(0.005, 0.3),
    variance=st.floats(1e-6, 0.1),
    prior_dof=st.floats(0, 30),
)


@given(st.lists(gaps, min_size=1, max_size=4), st.integers(2, 12), st.integers(0, 32))
def test_more_launches_never_make_a_decision_less_likely(
    open_comparisons: list[PairedDifference], algorithms: int, further: int
) -> None:
    prospect = Prospect(tuple(open_comparisons), algorithms)
    assert 0 <= prospect.chance(further) <= prospect.chance(further + 1) <= 1
    assert prospect.chance(further) <= min(Prospect((each,), algorithms).chance(further) for each in open_comparisons)
    assert prospect.needs >= 1
    assert prospect.expected_regret >= max(0, *(-each.slower for each in open_comparisons)) - 1e-12


def test_points_are_decided_about_as_often_as_predicted() -> None:
    random = np.random.default_rng(2)
    competitors = ALGORITHMS[1:3]
    predicted, decided = [], []
    for slower in np.linspace(0, 0.05, 300):
        race = Race(0.02, {OPEN: competitors})
        for launch, times in enumerate(np.exp(random.normal([0, slower], 0.03, (16, 2))), 1):
            race.add_launch(
                launch, [LaunchTime(OPEN, *each, 1.0) for each in zip(competitors, "tt", times, strict=True)]
            )
            if launch == MIN_LAUNCHES:
                chance, over = Prospect(tuple(race.gaps(OPEN).values()), 2).chance(10), race.standing(OPEN).done
        if not over:
            predicted.append(chance)
            decided.append(race.standing(OPEN).done)
    assert np.mean(predicted) == pytest.approx(np.mean(decided), abs=0.1)


def test_a_point_that_launches_would_hardly_decide_ends_where_choosing_costs_little() -> None:
    [(point, prospect)] = raced(MIN_LAUNCHES, most=11, deviation=0.035).ended([OPEN]).items()
    assert point == OPEN
    assert MIN_LAUNCHES + prospect.needs > 11
    assert not raced(MIN_LAUNCHES - 1, most=11, deviation=0.035).ended([OPEN])
    assert not raced(MIN_LAUNCHES, most=11, deviation=0.3).ended([OPEN])  # the loss by choosing is still unknown
    assert not raced(MIN_LAUNCHES, most=11, deviation=0.005).ended([OPEN])


def test_a_start_for_one_point_more_is_worth_what_others_took() -> None:
    assert not raced(MIN_LAUNCHES, most=32, deviation=0.02).ended([OPEN])
    points = (OPEN, *SETTLED)
    many = raced(MIN_LAUNCHES, most=32, deviation=0.02, points=points)
    assert set(many.ended(points)) == {OPEN}
    assert not many.ended(points, otherwise=[SETTLED[0]])  # which is measured in any case
    elsewhere = Point("bcast", 4, "core", 8, "warm")
    assert set(many.ended(points, otherwise=[elsewhere])) == {OPEN}


def test_after_the_last_look_a_point_ends_whatever_choosing_costs() -> None:
    assert not raced(ANALYSES[-1] - 1, most=None, deviation=0.3).ended([OPEN])
    for most in (None, 200):
        assert set(raced(ANALYSES[-1], most, deviation=0.3).ended([OPEN])) == {OPEN}
