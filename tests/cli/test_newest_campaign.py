"""Commands without a folder take the newest campaign in the current folder."""

import os
from pathlib import Path

import pytest

from tests.campaign_files import cells, results_of, write_campaign
from tests.cli.typed import typed


@pytest.fixture
def two_campaigns(tmp_path: Path) -> Path:
    """A folder with campaigns `later` and `earlier`, of which the name that sorts first is not the newest."""
    for name, time in (("later", 2_000_000_000), ("earlier", 1_000_000_000)):
        times = cells({"default": {2**power: 10.0 + 2**power for power in range(8)}})
        folder = write_campaign(tmp_path / name, results_of(times))
        os.utime(folder / "campaign.json", (time, time))
    return tmp_path


@pytest.mark.parametrize("command", ["show", "fit"])
def test_it_is_named_and_taken(command: str, two_campaigns: Path) -> None:
    done = typed(command, cwd=two_campaigns)
    assert done.returncode == 0
    assert "the newest campaign here: later\n" in done.stderr
    assert done.stdout == typed(command, "later", cwd=two_campaigns).stdout


def test_a_current_folder_that_is_a_campaign_is_one(two_campaigns: Path) -> None:
    done = typed("check", cwd=two_campaigns / "earlier")
    assert (done.returncode, done.stderr) == (0, "the newest campaign here: .\n")


def test_without_any_it_is_one_line(tmp_path: Path) -> None:
    done = typed("verdict", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "timpani: no campaign is in the current folder; name one, or measure one: timpani run demo\n"
    )


def test_the_report_goes_into_the_campaigns_folder(two_campaigns: Path) -> None:
    done = typed("report", cwd=two_campaigns)
    assert (done.returncode, done.stdout) == (0, "later/report.html\n")
    assert "</html>" in (two_campaigns / "later" / "report.html").read_text()
    again = typed("report", "later", cwd=two_campaigns)
    assert again.returncode == 2
    assert "later/report.html exists already" in again.stderr
