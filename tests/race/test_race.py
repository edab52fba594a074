from collections.abc import Iterable, Mapping

import numpy as np
import pytest

from timpani.race.race import DropReason, LaunchFailure, LaunchTime, Race, Standing, points_to_reduce, program_loss
from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.point_weights import Point, PointWeight, point_goals

POINT = Point("bcast", 2, "core", 8, "warm")


def algorithms(names: Iterable[str]) -> dict[str, Algorithm]:
    return {name: Algorithm("openmpi", name) for name in names}


def race_of(true: Mapping[str, float], launches: int, deviation: float = 0.005, regret: float = 0.02) -> Race:
    """A race over algorithms with these times, each launch measuring what remains."""
    random = np.random.default_rng(1)
    race = Race(regret, {POINT: list(algorithms(true).values())})
    for launch in range(1, launches + 1):
        common = random.lognormal(0, 1)
        remaining = race.standing(POINT).remaining
        race.add_launch(
            launch,
            [
                LaunchTime(POINT, each, f"{launch}", common * true[name] * random.lognormal(0, deviation), 99.0)
                for name, each in algorithms(true).items()
                if each in remaining
            ],
        )
    return race


def test_losers_by_factors_are_measured_in_three_launches_only() -> None:
    standing = race_of({DEFAULT: 1.0, "linear": 3.0, "ring": 1.01}, 3).standing(POINT)
    assert {each.name for each in standing.remaining} == {DEFAULT, "ring"}
    [(algorithm, why)] = standing.dropped.items()
    assert (algorithm.name, why.launch) == ("linear", 3)
    assert 1 < why.factor < 3


@pytest.mark.parametrize(("regret", "acceptable"), [(0.02, {DEFAULT, "ring"}), (0.6, {DEFAULT, "ring", "linear"})])
def test_algorithms_that_seem_within_the_regret_are_acceptable(regret: float, acceptable: set[str]) -> None:
    standing = race_of({DEFAULT: 1.0, "ring": 1.01, "linear": 1.4, "chain": 3.0}, 3, regret=regret).standing(POINT)
    assert {each.name for each in standing.acceptable} == acceptable


def test_a_race_ends_when_the_regret_is_within_the_limit() -> None:
    standing = race_of({DEFAULT: 1.004, "linear": 1.3, "ring": 1.0}, 8, deviation=0.001).standing(POINT)
    assert standing.done
    assert standing.choice is not None
    assert standing.choice.is_default  # a tie keeps the default
    assert standing.regret <= 0.02
    assert not standing.remaining


def test_a_faster_algorithm_is_chosen_and_its_gain_is_bounded() -> None:
    race = race_of({DEFAULT: 1.5, "linear": 1.0, "ring": 2.0}, 8)
    standing = race.standing(POINT)
    assert standing.done
    assert standing.choice == Algorithm("openmpi", "linear")
    ratio = race.ratio(POINT, *algorithms([DEFAULT, "linear"]).values())
    assert ratio is not None
    assert 1 < ratio.low < 1.5 < ratio.high
    assert ratio.estimate == pytest.approx(1.5, rel=0.02)


@pytest.mark.parametrize("deviation", np.linspace(0.01, 0.2, 20))
def test_a_race_does_not_end_before_its_choice_is_significantly_faster(deviation: float) -> None:
    race = race_of({DEFAULT: 1.6, "linear": 1.0}, 32, deviation)
    assert race.standing(POINT).done
    ratio = race.ratio(POINT, *algorithms([DEFAULT, "linear"]).values())
    assert ratio is not None
    assert ratio.low > INDIFFERENCE[1]


def test_a_point_with_two_winners_continues_until_the_regret_of_one_is_accepted() -> None:
    standing = race_of({DEFAULT: 2.0, "linear": 1.0, "ring": 1.0}, 6, deviation=0.03).standing(POINT)
    assert 0.02 < standing.regret < 0.2
    assert not standing.done


def test_an_algorithm_that_cannot_be_better_by_the_regret_is_dropped() -> None:
    standing = race_of({DEFAULT: 1.0, "linear": 1.1, "ring": 1.001}, 6, regret=0.05).standing(POINT)
    assert standing.dropped[Algorithm("openmpi", "ring")] == DropReason(6)
    assert standing.dropped[Algorithm("openmpi", "linear")].factor > 1


def test_launches_of_their_own_are_compared_by_their_times() -> None:
    names = algorithms([DEFAULT, "linear"])
    race = Race(0.02, {POINT: list(names.values())})
    for launch in range(1, 9):
        rows = [LaunchTime(POINT, names[DEFAULT], None, None, 2.0), LaunchTime(POINT, names["linear"], "t", 1.0, 1.0)]
        race.add_launch(launch, rows)
    ratio = race.ratio(POINT, names[DEFAULT], names["linear"])
    assert ratio is not None
    assert ratio.estimate == pytest.approx(2)


@pytest.mark.parametrize("time_us", [0.02, 0.4, 50.0])
def test_equal_recorded_times_still_have_an_interval(time_us: float) -> None:
    race = Race(0.02, {POINT: list(algorithms([DEFAULT, "linear"]).values())})
    for launch in range(1, 7):
        race.add_launch(
            launch, [LaunchTime(POINT, each, str(launch), 1.0, time_us) for each in race.competitors(POINT)]
        )
    ratio = race.ratio(POINT, *race.competitors(POINT))
    assert ratio is not None
    assert ratio.low < 1 - 0.0005 / time_us < 1 + 0.0005 / time_us < ratio.high
    assert race.standing(POINT).regret == pytest.approx(ratio.high - 1)


def failing_from(launch: int, failing: Iterable[str], launches: int = 8, error: str = "died") -> Standing:
    """A race of three of which some fail in this launch and all later ones that ask for them."""
    random = np.random.default_rng(1)
    true = {DEFAULT: 1.5, "linear": 1.0, "ring": 0.9}
    race = Race(0.02, {POINT: list(algorithms(true).values())})
    for number in range(1, launches + 1):
        asked = [(name, each) for name, each in algorithms(true).items() if each in race.standing(POINT).remaining]
        lost = [(name, each) for name, each in asked if name in failing and number >= launch]
        race.add_launch(
            number,
            [
                LaunchTime(POINT, each, str(number), true[name] * random.lognormal(0, 0.005), 99.0)
                for name, each in asked
                if (name, each) not in lost
            ],
            [LaunchFailure(POINT, each, error) for _, each in lost],
        )
    return race.standing(POINT)


@pytest.mark.parametrize("launch", range(1, 6))
def test_an_algorithm_that_fails_in_two_launches_is_excluded(launch: int) -> None:
    standing = failing_from(launch, ["ring"])
    assert standing.dropped[Algorithm("openmpi", "ring")] == DropReason(launch + 1, abandoned=True)
    assert standing.choice == Algorithm("openmpi", "linear")
    assert standing.done
    assert standing.regret <= 0.02
    assert {each.name for each in standing.excess} == {DEFAULT, "linear"}


def test_an_algorithm_that_was_not_tried_is_excluded_at_once() -> None:
    standing = failing_from(1, ["ring"], error="not tried: the algorithm ended 2 launches, from 8 B on")
    assert standing.dropped[Algorithm("openmpi", "ring")] == DropReason(1, abandoned=True)


def test_an_algorithm_dropped_against_an_abandoned_one_may_be_the_best_again() -> None:
    before, after = failing_from(7, ["ring"], launches=6), failing_from(5, ["ring"], launches=6)
    linear = Algorithm("openmpi", "linear")
    assert linear in before.dropped
    assert linear not in after.dropped
    assert after.choice == linear


@pytest.mark.parametrize("failing", [[DEFAULT, "linear"], [DEFAULT, "linear", "ring"]])
def test_a_point_with_fewer_than_two_algorithms_left_is_over(failing: list[str]) -> None:
    for launch in (1, 2):
        standing = failing_from(launch, failing)
        assert standing.done
        assert not standing.remaining
        assert standing.choice == (None if "ring" in failing else Algorithm("openmpi", "ring"))


def test_a_point_is_not_over_before_what_failed_once_was_tried_again() -> None:
    standing = failing_from(1, ["linear", "ring"], launches=1)
    assert not standing.done
    assert {each.name for each in standing.remaining} == {DEFAULT, "linear", "ring"}


DEAR, CHEAP, RARE = 8, 64, 512
SHARES = {DEAR: 0.5, CHEAP: 0.02, RARE: 0.004}
ACCEPTED = 0.01
GOALS = point_goals(
    [
        PointWeight(collective="bcast", ranks=2, placement="core", message_bytes=size, share=share)
        for size, share in SHARES.items()
    ],
    ACCEPTED,
)
ALGORITHMS = [Algorithm("openmpi", name) for name in (DEFAULT, "linear", "ring")]
POINTS = {size: Point("bcast", 2, "core", size, "warm") for size in (DEAR, CHEAP)}


def raced(launches: int, sizes: Iterable[int] = (DEAR, CHEAP), deviation: float = 0.003) -> Race:
    """A race in which the default is twice as fast as the others."""
    random = np.random.default_rng(1)
    race = Race(ACCEPTED, dict.fromkeys(POINTS.values(), ALGORITHMS), GOALS)
    for launch in range(1, launches + 1):
        race.add_launch(
            launch,
            [
                LaunchTime(POINTS[size], each, "t", (1 if each.is_default else 2) * random.lognormal(0, deviation), 1.0)
                for size in sizes
                for each in ALGORITHMS
            ],
        )
    return race


def test_the_rare_call_has_no_goal_and_the_dearest_the_smallest_regret() -> None:
    assert {size for *_, size in GOALS} == {DEAR, CHEAP}
    race = raced(0)
    assert race.accepted(POINTS[DEAR]) < race.accepted(POINTS[CHEAP])


def test_a_decided_point_leaves_the_other() -> None:
    race = raced(8, sizes=[DEAR])
    assert race.standing(POINTS[DEAR]).done
    assert points_to_reduce(race, POINTS.values()) == {POINTS[CHEAP]}
    assert points_to_reduce(raced(8), POINTS.values()) == set()


def test_the_bound_of_all_choices_is_in_shares_of_the_program_s_time() -> None:
    lost = program_loss(raced(8), {})
    assert lost is not None
    assert lost.allowed == pytest.approx(ACCEPTED - SHARES[RARE])
    assert lost.bound <= lost.allowed
    over_jobs = program_loss(raced(8), {POINTS[DEAR]: 0.5})
    assert over_jobs is not None
    assert over_jobs.bound > lost.allowed
    unmeasured = program_loss(raced(8, sizes=[DEAR]), {})
    assert unmeasured is not None
    assert unmeasured.bound >= SHARES[CHEAP]


def test_a_point_that_was_never_in_the_race_counts_with_all_of_its_time() -> None:
    race = Race(ACCEPTED, {POINTS[DEAR]: ALGORITHMS}, GOALS)
    assert race.unreached_loss == pytest.approx(SHARES[CHEAP])
