from timpani.race.grid import algorithms_to_sample, coarse, contradicts_expectation
from timpani.race.race import Standing
from timpani.study.cell import DEFAULT, Algorithm


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
