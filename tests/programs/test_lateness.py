"""How well the lateness of ranks repeats, and the advice that follows from it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from tests.programs.profile_files import CALL, late, part_text, write_profile
from timpani.programs.profile.lateness import call_lateness
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profile_lines import ProfilePart

BCAST = {**CALL, "name": "bcast", "operator": ""}
CALL_NS = 10_000.0


def part_of(folder: Path, entries: ArrayLike, name: str = "bcast") -> ProfilePart:
    """Calls of 10 µs that two ranks enter at these times (a row for each call), as the native library counts them."""
    times = np.array(entries)
    after_first = times - times.min(axis=1, keepdims=True)
    lines = [
        late(
            "a",
            rank,
            float(of_rank.mean()),
            name=name,
            sampled=len(times),
            deviation_ns=float(of_rank.std()),
            completion_ns=CALL_NS,
        )
        for rank, of_rank in enumerate(after_first.T)
    ]
    return read_profile(write_profile(folder, part_text(({**BCAST, "name": name}, *lines)))).main_part


def entries(delay: float, noise: float, calls: int = 200) -> np.ndarray[Any, Any]:
    """Rank 1 enters `delay` after rank 0, and both enter earlier or later by normal `noise`."""
    return np.random.default_rng(1).normal([0.0, delay], noise, (calls, 2))


@pytest.mark.parametrize(
    ("delay", "noise", "low", "high"),
    [
        (50_000, 0, 1, 1),  # the same rank in each call
        (50_000, 5_000, 0.9, 1),
        (0, 5_000, 0, 0.02),  # both equally often
    ],
)
def test_the_repeated_share_is_what_the_ranks_explain(
    tmp_path: Path, delay: float, noise: float, low: float, high: float
) -> None:
    [found] = call_lateness(part_of(tmp_path / "p", entries(delay, noise)))
    share = found.repeated_share
    assert share is not None
    assert low <= share <= high


def test_few_calls_of_random_lateness_do_not_look_repeated(tmp_path: Path) -> None:
    """The mean of two calls differs between ranks by chance; this part is subtracted."""
    random = np.random.default_rng(3)
    shares = [
        call_lateness(part_of(tmp_path / str(number), random.exponential(1000, (2, 2))))[0].repeated_share or 0.0
        for number in range(40)
    ]
    assert np.median(shares) < 0.5


def test_nothing_is_known_of_one_call_or_of_a_rank_that_is_missing(tmp_path: Path) -> None:
    [once] = call_lateness(part_of(tmp_path / "1", [[0, 50_000]]))
    assert once.repeated_share is None
    incomplete = read_profile(write_profile(tmp_path / "2", part_text((BCAST, late("a", 0, 70.0, name="bcast")))))
    assert call_lateness(incomplete.main_part) == []
