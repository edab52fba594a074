from timpani.study.cell import DEFAULT, Algorithm
from timpani.tuning.race import RacePoint, Standing
from timpani.tuning.race_between import coarse, looks_between, points_between


def named(name: str) -> Algorithm:
    return Algorithm("openmpi", name)


def at(size: int) -> RacePoint:
    return RacePoint("bcast", 2, "core", size, "warm")


def standing(done: bool, *serving: str, **excess: float) -> Standing:
    """Of a point with six launches, or, where `excess` is given, one that was looked at in three."""
    seems = {named(name): excess.get(name, 0.5) for name in (DEFAULT, "a", "b", "c")}
    seems |= {named(name): excess.get(name, 0.0) for name in serving}
    return Standing(
        3 if excess else 6, named(serving[0]), 0.01, done, frozenset(map(named, serving)), frozenset(), {}, seems
    )


def test_a_race_begins_with_values_far_apart() -> None:
    assert coarse([1 << i for i in range(21)], 8) == [1, 8, 64, 512, 4096, 32768, 1 << 20]
    assert coarse([0], 8) == [0]
    assert coarse([0, 1, 8], 8) == [0, 8]
    assert coarse([2, 4, 6, 8, 12, 16, 64], 4) == [2, 8, 64]


LINE = [at(1), at(2), at(4), at(8), at(16)]


def test_points_between_are_measured_where_no_algorithm_serves_both_sides() -> None:
    assert list(points_between(LINE, {at(1): standing(True, "a"), at(16): standing(True, "b")}, {})) == [at(4)]
    assert not list(points_between(LINE, {at(1): standing(True, "a", "b"), at(16): standing(True, "b")}, {}))
    assert not list(points_between(LINE, {at(1): standing(True, "a"), at(2): standing(True, "b")}, {}))


def test_points_between_are_looked_at_where_one_algorithm_serves_both_sides() -> None:
    looks = dict(looks_between(LINE, {at(1): standing(True, "a", "b"), at(16): standing(True, "b")}))
    assert sorted(looks) == [at(2), at(4), at(8)]
    assert {each.name for each in looks[at(4)]} == {DEFAULT, "a", "b"}
    assert not dict(looks_between(LINE, {at(1): standing(True, "a"), at(16): standing(True, "b")}))


def test_what_is_found_otherwise_between_is_measured_with_all_algorithms() -> None:
    sides = {at(1): standing(True, DEFAULT), at(16): standing(True, DEFAULT)}
    looked_at = {
        at(2): standing(False, "a", default=1.6),
        at(4): standing(False, DEFAULT, a=0.01),
        at(8): standing(False, "a", default=0.04),
    }
    assert list(points_between(LINE, sides, looked_at)) == [at(2)]
