"""`timpani.measure` takes what a study file may say, and refuses what `timpani run` refuses."""

from pathlib import Path

import pytest

import timpani
from timpani.study.compose import compose
from timpani.study.keys import KEYS, MeasureOptions


def test_every_key_of_a_study_is_an_option_with_a_type() -> None:
    assert MeasureOptions.__annotations__.keys() == {*KEYS, "algorithms"}


def test_options_are_numbers_and_lists_or_written_as_on_the_command_line() -> None:
    listed: MeasureOptions = {"ranks": [2, 4], "sizes": [8, 16], "algorithms": ["default", "ring"], "slot": 0.05}
    written: MeasureOptions = {"ranks": "2:4", "sizes": "8:16", "algorithms": "default,ring", "slot": "50ms"}
    assert compose(["allreduce"], listed) == compose(["allreduce"], written)


def test_a_figure_that_does_not_exist_is_refused_before_measuring(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('ranks = 2\nsizes = 8\n[collectives]\nbcast = "all"\n[figures.nonsense]\n')
    with pytest.raises(timpani.UserError, match="nonsense"):
        timpani.measure(str(file), folder=tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in timpani.__all__ if not hasattr(timpani, name)] == []
    assert timpani.OpenedCampaign.__name__ == "OpenedCampaign"
