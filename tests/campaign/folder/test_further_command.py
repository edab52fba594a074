"""The command that measures more launches."""

from pathlib import Path

from tests.report.conftest import synthetic_header
from timpani.campaign.folder.header import Header, further_command


def header(*commands: str, budget: float | None = None) -> Header:
    values = synthetic_header() | {"commands": list(commands), "id": "a"}
    values["study"] = values["study"] | {"budget": budget}
    return Header.check(values, "here")


def test_the_last_run_command_is_repeated_with_more_launches_into_the_same_folder() -> None:
    made = header("timpani run bcast --sizes 8", "timpani run bcast --launches=8 --sizes 8 --launches 9 -o old")
    assert further_command(made, Path("a b"), 30, 90.0) == "timpani run bcast --sizes 8 -o 'a b' --launches 30"


def test_a_budget_lasts_for_the_launches() -> None:
    made = header("timpani run demo --budget 10s -o demo", budget=100.0)
    assert further_command(made, Path("demo"), 127, 307.0) == "timpani run demo -o demo --launches 127 --budget 7m"


def test_only_campaigns_of_run_have_a_further_command() -> None:
    assert further_command(header("timpani tune bcast -o tuned"), Path("c"), 30, 9.0) is None
    assert further_command(header(), Path("c"), 30, 9.0) is None
