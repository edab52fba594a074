"""The figure of one algorithm next to the default, on the host files of a study with groups of nodes."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.page.test_page import campaign_of
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import Figures, find_figures
from timpani.study.cell import COMPOSED, DEFAULT, Algorithm, Cell
from timpani.study.values import FigureChoice

pytestmark = pytest.mark.slow

TYPES = {"three_level": 30.0, "two_level": 50.0, "two_level_linear": 90.0}
DEFAULT_US = 60.0


def result(algorithm: Algorithm, placement: str, size: int, median_us: float) -> LaunchResult:
    cell = Cell("bcast", algorithm, 8, placement, size, "warm")
    return LaunchResult(cell, 1, "desk", median_us=median_us, osu_avg_us=median_us)


def results() -> list[LaunchResult]:
    """The default and three types at two sizes on three host files; the default failed on the third, where it has no
    result; and two algorithms by core."""
    types = {Algorithm(COMPOSED, name): median for name, median in TYPES.items()}
    default = {Algorithm("openmpi", DEFAULT): DEFAULT_US}
    files = {"category:1:1": default | types, "category:2:2": default | types, "category:3:2": types}
    found = [
        result(algorithm, placement, size, median)
        for placement, algorithms in files.items()
        for algorithm, median in algorithms.items()
        for size in (1024, 2048)
    ]
    return [
        *found,
        result(Algorithm("openmpi", DEFAULT), "core", 1024, 5.0),
        result(Algorithm(COMPOSED, "two_level"), "core", 1024, 5.0),
    ]


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return campaign_of(tmp_path / "campaign", results())


def of_figure(campaign: Campaign, *algorithms: str) -> Figures:
    choice = FigureChoice(algorithms=algorithms or None)
    study = campaign.header.study.model_copy(update={"figures": {"against-default": choice}})
    return find_figures(Report(replace(campaign, header=campaign.header.model_copy(update={"study": study}))))


def test_each_algorithm_has_a_figure_with_its_times_and_the_defaults_on_every_host_file(campaign: Campaign) -> None:
    found = of_figure(campaign)
    assert [str(file.path) for file in found.asked] == [f"against-default/bcast-composed-{name}" for name in TYPES]
    for (name, median), file in zip(TYPES.items(), found.asked, strict=True):
        shown = file.choice.rows.group_by("label", "median_us").len().sort("label").rows()
        assert shown == [(f"composed/{name}", median, 4), (DEFAULT, DEFAULT_US, 4)]
        assert set(file.choice.rows["placement"]) == {"category:1:1", "category:2:2"}
