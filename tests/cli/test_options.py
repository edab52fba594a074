"""Options that come from the table of study keys reach the study as they were typed."""

from pathlib import Path
from typing import Any

import pytest
import typer

from timpani.cli import REFUSED, app
from timpani.cli.terminal.options import StudyOptions, expand, study_options
from timpani.study.compose import compose
from timpani.study.keys import KEYS


def given(*words: str, options: type[StudyOptions] | None = None) -> dict[str, Any]:
    """What `compose` would get of a command line."""
    found: dict[str, Any] = {}

    @expand(study=options or study_options())
    def command(*, study: StudyOptions) -> None:
        found.update(study.given())

    one = typer.Typer(add_completion=False)
    one.command()(command)
    one(list(words), standalone_mode=False)
    return found


def test_only_what_was_typed_is_given() -> None:
    assert given() == {}
    assert given("-n", "2:8", "-i", "5") == {"ranks": "2:8", "repetitions": 5}


def test_a_switch_gives_the_value_that_its_key_names() -> None:
    assert given("--include-setup", "--no-probe") == {"include_setup": True, "probe": False}


def test_a_file_is_given_wherever_the_command_runs_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert given("--rules", "r.conf") == {"rules": str(tmp_path / "r.conf")}


def test_a_command_may_have_some_options_alone() -> None:
    some = study_options(("sizes", "algorithms"))
    assert given("--sizes", "8", "--algorithms", "default", options=some) == {"sizes": "8", "algorithms": "default"}
    with pytest.raises(REFUSED):
        given("--ranks", "2", options=some)


def test_a_study_takes_all_that_is_given() -> None:
    study = compose(["bcast"], given("--ranks", "4", "--slot", "50ms", "--regret", "2%", "--seed", "7"))
    assert (study.ranks, study.slot, study.regret, study.seed) == ((4,), 0.05, 0.02, 7)


def test_run_has_an_option_for_each_key_that_has_one() -> None:
    whole: Any = typer.main.get_command(app)
    parameters = {each.name for each in whole.loaded("run", typer.Context(whole)).params}
    assert {row.option.parameter or name for name, row in KEYS.items() if row.option} <= parameters
