"""A campaign next to a study: under the study's names, by the chosen statistic, messages size by size."""

from pathlib import Path

import pytest

from tests.cli.test_show import measured_on
from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.study_names import by_statistic, with_study_names
from timpani.report.document.text import text_of
from timpani.report.verdict.verdict_text import verdict_document
from timpani.studies.comparison import PublishedComparison
from timpani.studies.tables import COMPARISON, published_doubts, published_names, read_published
from timpani.study.cell import Algorithm, Cell

BEHROOZ = read_published("behrooz", COMPARISON)
NOTE = "basic_linear (bcast): simgrid/flattree stands in for openmpi/basic_linear."
LAUNCHES = 6


@pytest.fixture
def simulated(tmp_path: Path) -> Campaign:
    study = {"collectives": {"bcast": ["default", "openmpi/basic_linear"]}}
    return load(measured_on(tmp_path / "c", (2, 4), ("simgrid/default", "simgrid/flattree"), "simgrid", study))


def test_the_text_has_the_studys_names_and_footnotes_for_what_stands_in(simulated: Campaign) -> None:
    text = PublishedComparison.compare(with_study_names(simulated), BEHROOZ).text
    assert NOTE in text.splitlines()
    row = next(line for line in text.splitlines() if line.startswith("basic_linear "))
    assert row.split()[1:3] == ["bcast", "core"]
    assert row.split()[-1] == "4"  # all cells have their published partner
    assert text.count("flattree") == text.count("simgrid/flattree for openmpi/basic_linear") + 1


def test_data_have_the_names_of_what_was_measured(simulated: Campaign) -> None:
    values = PublishedComparison.compare(simulated, BEHROOZ).as_object
    assert {row["label"] for row in values["over_sizes"]} == {"default", "flattree"}
    named = PublishedComparison.compare(with_study_names(simulated), BEHROOZ)
    assert [each.campaign and each.campaign.finding.verdict for each in named.checked] == [
        each.campaign and each.campaign.finding.verdict
        for each in PublishedComparison.compare(simulated, BEHROOZ).checked
    ]


def test_the_verdict_has_the_studys_names_and_its_footnotes(simulated: Campaign) -> None:
    for full in (False, True):
        lines = text_of(verdict_document(with_study_names(simulated), full).blocks).splitlines()
        assert (NOTE in lines) == ("basic_linear" in " ".join(line for line in lines if line != NOTE))
        assert not [line for line in lines if "flattree" in line and line != NOTE]


def test_conclusions_are_checked_by_the_statistic_that_was_asked_for(tmp_path: Path) -> None:
    """The default's completions fall from 64 to 128 ranks, its averages rise."""
    results = [
        LaunchResult(
            Cell("bcast", Algorithm("openmpi", "default"), ranks, "core", size, "warm"),
            launch,
            "desk",
            median_us=100 / ranks + launch / 100,
            osu_avg_us=ranks + launch / 100,
        )
        for ranks in (64, 128)
        for size in (1, 2)
        for launch in range(1, LAUNCHES + 1)
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    verdicts = {}
    for statistic in ("completion", "osu"):
        compared = PublishedComparison.compare(by_statistic(campaign, statistic), BEHROOZ)
        rises = next(each for each in compared.checked if "rises with the ranks up to 128" in each.published.claim.says)
        assert rises.campaign
        verdicts[statistic] = rises.campaign.finding.verdict
        assert f"here checked with {'OSU averages' if statistic == 'osu' else 'completions'}" in compared.text
    assert verdicts == {"completion": "does not hold", "osu": "holds"}


def test_messages_stand_next_to_the_published_ones_size_by_size(tmp_path: Path) -> None:
    pair = (("first", 0), ("second", 1))
    results = [
        LaunchResult(
            Cell(name, Algorithm("openmpi", "default", parameters), 2, "core", size, "warm"),
            launch,
            "desk",
            median_us=9.0,
            osu_avg_us=3.0 if launch == LAUNCHES else 1.0 + launch / 50,  # the mean lies far from the median
        )
        for name, parameters in (("latency", pair), ("bandwidth", (*pair, ("window", 64))))
        for size in (1, 1024)
        for launch in range(1, LAUNCHES + 1)
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    text = PublishedComparison.compare(campaign, read_published("holt", COMPARISON)).text
    tables = [part.splitlines() for part in text.split("\n\n") if "OSU's average here and published" in part]
    bandwidth, latency = tables
    assert bandwidth[1].split() == [
        "size",
        "(B)",
        "here",
        "95",
        "%",
        "interval",
        "published",
        "here",
        "/",
        "published",
    ]
    assert bandwidth[3].split() == ["1024", "957", "341", "to", "1004", "1540", "0.62"]
    assert latency[2].split() == ["1", "1.07", "1.02", "to", "3.00", "1.58", "0.68"]


def test_the_published_tables_are_judged() -> None:
    behrooz = {each.kind: each for each in published_doubts(read_published("behrooz", "measurements"))}
    assert "scatter and bcast times of default are almost identical" in behrooz["same_curve"].text
    assert "65.7 GB/s out of one root" in behrooz["over_the_port"].text
    assert behrooz["faster_than_its_choices"].cells == 58
    assert "scatter default on 16 ranks, 1 MiB" in behrooz["prints_its_size"].text
    assert "bcast binary on 128 ranks, 1 MiB is empty" in behrooz["empty"].text
    assert "at 28 of 1174 steps" in behrooz["falls_with_ranks"].text  # none leads over the empty cell
    assert published_doubts(read_published("malasi", "measurements")) == []
    for name in published_names("measurements"):
        published_doubts(read_published(name, "measurements"))
