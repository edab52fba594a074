from pathlib import Path

from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import load
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.fit.fit_section import fit_section
from timpani.study.cell import Algorithm, Cell


def test_a_curve_that_cannot_be_fitted_is_named(tmp_path: Path) -> None:
    cell = Cell("barrier", Algorithm("openmpi", "default"), 2, "core", 0, "warm")
    results = [LaunchResult(cell, 1, "desk", median_us=1.0)]
    campaign = load(write_campaign(tmp_path / "barrier", synthetic_header(), results, []))
    found = fit_section(campaign, with_locality(estimate_cells(raced_results(campaign)), campaign))
    assert found.fits.is_empty()
    assert "only one size" in found.left_out[0]
