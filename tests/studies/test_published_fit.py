"""A published regression and Timpani's fit."""

from pathlib import Path

import polars as pl
import pytest

from tests.report.page.test_page import Page
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.figures.models import FITTED, MEASURED, SWITCH
from timpani.report.fit.fit_section import fit_section
from timpani.report.page.page import render
from timpani.stats.regression import NamedRegression, regressions
from timpani.studies.fits import StudyFit
from timpani.studies.tables import import_published

pytestmark = pytest.mark.slow

NAME = "della_siega_bcast_linear_ols"


@pytest.fixture
def table() -> StudyFit:
    return StudyFit.read(NAME)


def cells(per_rank: float, per_byte: float, **about: str) -> pl.DataFrame:
    """Times of which the published plane is nearly true, with some scatter."""
    rows = [
        {
            "collective": "bcast",
            "variant": "default",
            "provider": "openmpi",
            "algorithm": "linear",
            "parameters": "",
            "ranks": ranks,
            "placement": "core",
            "message_bytes": size,
            "mode": "warm",
            "arrival": "together",
            "machine": "desk",
            "median_us": (per_rank * ranks + per_byte * size) * (1.02 if (ranks + size) % 4 else 0.98),
            "osu_avg_us": 1.0,
            **about,
        }
        for ranks in range(2, 49, 4)
        for size in (2**power for power in range(1, 21))
    ]
    return pl.DataFrame(rows)


def fitted(timed: pl.DataFrame, formula: str | None = None) -> list[NamedRegression]:
    return [each for each in regressions(timed, formula) if isinstance(each, NamedRegression)]


def test_measured_and_published_terms_have_their_difference(table: StudyFit) -> None:
    plane, powers = table.compare(fitted(cells(1.126, 0.001)))
    ranks, size = plane.as_object["terms"]
    assert (ranks["term"], size["term"]) == ("ranks", "size")
    assert ranks["published"]["value"] == 1.126
    assert ranks["difference"]["value"] == pytest.approx(ranks["measured"]["value"] - 1.126)
    assert ranks["difference"]["interval"][0] < 0 < ranks["difference"]["interval"][1]
    low, high = size["difference"]["interval"]
    assert high - low > 0.001  # of so few printed digits
    assert [term["term"] for term in powers.as_object["terms"]] == ["ranks", "log2(size)"]
    shown = plane.table
    curve = "bcast linear, placed by core, cache warm, machine desk"
    assert shown.caption.startswith(f"{curve}: latency ~ ranks + size - 1, compared with Della Siega")
    assert shown.columns == ("Term", "Measured", "Published", "Measured − published")
    assert "published 0.84" in shown.notes[0]


def test_a_stand_in_of_a_simulation_is_compared_too(table: StudyFit) -> None:
    found = fitted(cells(1.126, 0.001, provider="simgrid", algorithm="flattree"))
    assert len(table.compare(found)) == len(found) == 2


@pytest.mark.parametrize("about", [{"collective": "reduce"}, {"algorithm": "chain"}])
def test_a_fit_of_other_cells_is_not_compared(about: dict[str, str], table: StudyFit) -> None:
    found = fitted(cells(1.126, 0.001, **about))
    assert found
    assert table.compare(found) == []


@pytest.mark.parametrize(("placement", "pairs"), [("core", 2), ("socket", 0), ("unknown", 2)])
def test_only_the_published_mapping_is_compared(placement: str, pairs: int, table: StudyFit) -> None:
    assert len(table.compare(fitted(cells(1.126, 0.001, placement=placement)))) == pairs


def test_a_fit_with_another_formula_is_not_compared(table: StudyFit) -> None:
    found = fitted(cells(1.126, 0.001), "log2(latency) ~ log2(ranks) + log2(size) - 1")
    assert found
    assert table.compare(found) == []


def test_the_report_shows_it_too(table: StudyFit, tmp_path: Path) -> None:
    import_published("behrooz_bcast_scatter", tmp_path / "behrooz", "timpani import")
    campaign = load(tmp_path / "behrooz")
    assert "Measured − published" in Page(render(campaign, published=[table])).text
    import_published("malasi_bcast_scatter", tmp_path / "malasi", "timpani import")
    alone = Page(render(load(tmp_path / "malasi"), published=[table])).text
    assert f"{table.title}: nothing here is the same fit of the same algorithm" in alone


@pytest.fixture(scope="module")
def holt(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("holt") / "latency"
    import_published("holt_osu_latency", folder, "timpani import")
    return load(folder)


def test_points_lines_and_switches_are_there_to_be_drawn(holt: Campaign) -> None:
    found = fit_section(holt, with_locality(estimate_cells(raced_results(holt)), holt)).fits
    assert found.filter(part=MEASURED)["message_bytes"].to_list()[:3] == [0, 1, 2]
    assert found.filter(part=SWITCH)["message_bytes"].to_list() == [256]
    assert found.filter(part=FITTED)["piece"].n_unique() == 3  # and a bend, which has no separate line
    assert (found.filter(part=FITTED)["time_us"] > 0).all()
