"""The library with files against itself without them, in starts that the machine makes slow or fast as a whole."""

import pytest

from timpani.study.cell import Algorithm, under_files
from timpani.tune.confirmation import ratios_across_starts

DEFAULT, FILES = Algorithm("mpich", "default"), Algorithm("mpich", "tuned")
ONE, OTHER = Algorithm("mpich", "binomial"), Algorithm("mpich", "ring")


def turns(
    launch: int, start: str, times: dict[Algorithm, float]
) -> list[tuple[int, str | None, float | None, Algorithm]]:
    return [(launch, start, time, algorithm) for algorithm, time in times.items()]


def test_a_factor_common_to_a_start_cancels() -> None:
    rows = [
        *turns(1, "1.0/5", {DEFAULT: 10, ONE: 20, OTHER: 5}),
        *turns(1, "1.1/5", {FILES: 4 * 5, under_files(ONE): 4 * 20, under_files(OTHER): 4 * 5}),
        *turns(2, "2.0/5", {DEFAULT: 3 * 10, ONE: 3 * 20}),
        *turns(2, "2.1/5", {FILES: 5, under_files(ONE): 20}),
    ]
    assert ratios_across_starts(rows, DEFAULT, FILES) == pytest.approx([2.0, 2.0])


def test_launches_without_a_common_algorithm_give_no_ratio() -> None:
    rows = [*turns(1, "1.0/5", {DEFAULT: 10, ONE: 20}), *turns(1, "1.1/5", {FILES: 5, under_files(OTHER): 5})]
    assert ratios_across_starts(rows, DEFAULT, FILES) == []
    assert ratios_across_starts([(1, None, None, DEFAULT), (1, None, None, FILES)], DEFAULT, FILES) == []
