"""The arrival pattern `recorded:p`."""

from pathlib import Path
from typing import Any

import pytest

from tests.programs.profile_files import CALL, late, part_text, write_profile
from timpani.errors import UserError
from timpani.programs.study.recorded_lateness import with_recorded_lateness
from timpani.study.compose import compose
from timpani.study.study import Study


def profile(folder: Path, *lines: dict[str, Any]) -> Path:
    return write_profile(folder, part_text((CALL, *lines)))


def recorded(folder: Path) -> Study:
    return with_recorded_lateness(compose(["allreduce"], {"ranks": (2,), "arrival": f"recorded:{folder}"}))


def test_each_rank_has_its_mean_after_the_first_of_them(tmp_path: Path) -> None:
    folder = profile(tmp_path / "p", late("a", 1, 1000.4), late("a", 0, 71_000.0))
    study = recorded(folder)
    assert study.lateness_of("allreduce", 2, 1024) == (70_000, 0)
    assert study.arrival.startswith("recorded:p-")


def test_the_communicator_with_most_calls_stands_for_all_of_its_size(tmp_path: Path) -> None:
    rare = [late("rare", rank, 5.0 * rank, calls=3) for rank in (0, 1)]
    alone = [late("incomplete", 0, 9.0, calls=1000)]
    often = [late("often", rank, 800.0 * rank) for rank in (0, 1)]
    study = recorded(profile(tmp_path / "p", *rare, *alone, *often))
    assert study.lateness_of("allreduce", 2, 1024) == (0, 800)


def test_profiles_with_other_lateness_give_another_pattern(tmp_path: Path) -> None:
    first = recorded(profile(tmp_path / "1" / "p", late("a", 0, 0.0), late("a", 1, 70.0)))
    same = recorded(profile(tmp_path / "2" / "p", late("a", 0, 0.0), late("a", 1, 70.0)))
    other = recorded(profile(tmp_path / "3" / "p", late("a", 0, 0.0), late("a", 1, 80.0)))
    assert first.arrival == same.arrival != other.arrival


def test_other_patterns_stay_and_a_profile_without_lateness_is_refused(tmp_path: Path) -> None:
    study = compose(["bcast"], {"arrival": "sorted:1ms"})
    assert with_recorded_lateness(study) == study
    with pytest.raises(UserError, match="holds no lateness"):
        recorded(profile(tmp_path / "p"))
    with pytest.raises(UserError, match="holds no profile"):
        recorded(tmp_path)
