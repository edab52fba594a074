from pathlib import Path

import pytest

from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.fit.fit_section import fit_section
from timpani.report.page.contents import Report
from timpani.report.page.page import render
from timpani.study.cell import Algorithm, Cell

pytestmark = pytest.mark.slow


def test_regressions_are_tabled_where_ranks_vary(campaign: Campaign) -> None:
    found = fit_section(campaign, with_locality(estimate_cells(raced_results(campaign)), campaign))
    captions = [table.caption for table in found.tables["scatter"]]
    assert (
        "scatter binomial, placed by core, cache warm, machine desk: log2(latency) ~ ranks + log2(size) - 1" in captions
    )
    assert found.residuals["formula"].n_unique() == 2


def test_a_formula_that_fits_badly_has_a_better_one_above_its_table(tmp_path: Path) -> None:
    cells = [
        Cell("bcast", Algorithm("openmpi", "linear"), ranks, "core", 2**power, "warm")
        for ranks in (2, 4, 8, 16, 24, 32)
        for power in range(1, 21)
    ]
    results = [LaunchResult(cell, 1, "desk", median_us=5 + 1e-3 * cell.ranks * cell.message_bytes) for cell in cells]
    campaign = load(write_campaign(tmp_path / "product", synthetic_header(), results, []))
    found = fit_section(campaign, with_locality(estimate_cells(raced_results(campaign)), campaign))
    notes = [note for table in found.tables["bcast"] for note in table.notes]
    assert any("Better: --formula 'latency ~ ranks + size + ranks:size'" in note for note in notes)


def test_a_curve_that_cannot_be_fitted_is_named_and_the_report_is_written(tmp_path: Path) -> None:
    cell = Cell("barrier", Algorithm("openmpi", "default"), 2, "core", 0, "warm")
    results = [LaunchResult(cell, 1, "desk", median_us=1.0)]
    campaign = load(write_campaign(tmp_path / "barrier", synthetic_header(), results, []))
    found = fit_section(campaign, with_locality(estimate_cells(raced_results(campaign)), campaign))
    assert found.fits.is_empty()
    assert "only one size" in found.left_out[0]
    html = render(campaign)
    assert "No model could be fitted to these results." in html
    assert f"<li>{found.left_out[0]}</li>" in html


def test_a_fitted_curve_has_the_label_and_color_that_its_algorithm_has_elsewhere(
    campaign: Campaign, messages_campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = Report(messages_campaign)
    shared = {("bcast", ranks): [("binomial", "linear")] for ranks in (2, 4, 8)}
    monkeypatch.setattr("timpani.report.page.contents.shared_curves", lambda *_: shared)
    report = Report(campaign)
    labels = {panel.collective: set(panel.frame["label"]) for panel in report.panels["fitted"]}["bcast"]
    assert "binomial = linear, core" in labels
    assert not {"binomial, core", "linear, core"} & labels
    colors = {style.label: style.color for panel in report.panels["fitted"] for style in panel.curves}
    elsewhere = {style.label: style.color for panel in report.panels["latency-against-size"] for style in panel.curves}
    assert {label.removesuffix(", core"): color for label, color in colors.items()} == elsewhere

    fitted = {style.label: style.color for panel in messages.panels["fitted"] for style in panel.curves}
    drawn = {style.label: style.color for panel in messages.panels["message-latency"] for style in panel.curves}
    assert drawn.items() <= fitted.items()
