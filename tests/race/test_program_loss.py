"""A race for a program ends when all of its choices together lose little of the program's time."""

from collections.abc import Iterable

import numpy as np
import pytest

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.race.agenda import Racing
from timpani.race.race import LaunchTime, Race, points_to_reduce, program_loss
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.point_weights import Point, PointKey, PointWeight, point_goals

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


def test_before_any_launch_all_points_with_a_goal_are_measured() -> None:
    assert points_to_reduce(raced(0), POINTS.values()) == set(POINTS.values())


def test_a_decided_point_leaves_the_other() -> None:
    race = raced(8, sizes=[DEAR])
    assert race.standing(POINTS[DEAR]).done
    assert points_to_reduce(race, POINTS.values()) == {POINTS[CHEAP]}


def test_the_bound_of_all_choices_is_in_shares_of_the_program_s_time() -> None:
    lost = program_loss(raced(8))
    assert lost is not None
    assert lost.allowed == pytest.approx(ACCEPTED - SHARES[RARE])
    assert lost.bound <= lost.allowed
    unmeasured = program_loss(raced(8, sizes=[DEAR]))
    assert unmeasured is not None
    assert unmeasured.bound >= SHARES[CHEAP]


def test_without_a_program_nothing_is_weighted() -> None:
    race = Race(ACCEPTED, dict.fromkeys(POINTS.values(), ALGORITHMS))
    assert program_loss(race) is None
    assert points_to_reduce(race, POINTS.values()) == set(POINTS.values())


def test_a_point_that_was_never_in_the_race_counts_with_all_of_its_time() -> None:
    race = Race(ACCEPTED, {POINTS[DEAR]: ALGORITHMS}, GOALS)
    assert race.unreached_loss == pytest.approx(SHARES[CHEAP])


def measured_launches(goals: dict[PointKey, object] | None, sizes: Iterable[int]) -> dict[int, int]:
    """How many launches a race of ties takes at each size."""
    cells = [Cell("bcast", each, 2, "core", size, "warm") for size in sizes for each in ALGORITHMS]
    racing = Racing(cells, 64, ACCEPTED, goals=GOALS if goals is None else {}, at_any_price=True)
    random, found = np.random.default_rng(3), dict.fromkeys(sizes, 0)
    for launch in range(1, 65):
        for cell in sorted(racing.wanted(launch)):
            relative = random.lognormal(0, 0.02)
            found[cell.message_bytes] += cell.algorithm.is_default
            racing.take(
                LaunchResult(
                    cell, launch, "m", median_us=100 * relative, repetitions=9, interleaving="t", relative=relative
                )
            )
    return found


def test_the_dearest_call_is_measured_longest_and_a_cheap_one_ends_early() -> None:
    found = measured_launches(None, [DEAR, CHEAP])
    assert found[DEAR] > found[CHEAP] > 0
