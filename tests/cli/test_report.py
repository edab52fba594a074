"""`timpani report`: which figures it writes, and of which statistic they are."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.report.conftest import synthetic_header, synthetic_launches, synthetic_results, write_campaign
from timpani.cli.report import report
from timpani.errors import UserError

pytestmark = pytest.mark.slow

APP = typer.Typer()
APP.command()(report)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(argument) for argument in arguments])


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    header = synthetic_header()
    header["study"]["figures"] = {"latency-against-size": {"ranks": [2]}}
    few = [each for each in synthetic_results() if each.cell.algorithm.name in ("default", "linear", "bruck")]
    return write_campaign(tmp_path / "campaign", header, few, synthetic_launches())


def drawn(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.svg"))


def test_the_studys_figures_are_written_and_all_others_only_when_asked_for(campaign: Path, tmp_path: Path) -> None:
    asked = run(campaign, "--figures", tmp_path / "few")
    assert drawn(tmp_path / "few") == [
        "latency-against-size/bcast-2-ranks.svg",
        "latency-against-size/scatter-2-ranks.svg",
    ]
    assert "2 figures, each as SVG, PNG and PDF" in asked.stdout
    assert "--all-figures writes" in asked.stdout
    for name, part in {"tables.tex": "\\toprule", "tables.md": "| size (B) |", "tables.csv": "size (B),"}.items():
        assert part in (tmp_path / "few" / name).read_text()
    all_of_them = run(campaign, "--figures", tmp_path / "all", "--all-figures")
    assert "writes" not in all_of_them.stdout
    assert set(drawn(tmp_path / "few")) < set(drawn(tmp_path / "all"))


def test_figures_are_of_the_statistic_that_was_asked_for(campaign: Path, tmp_path: Path) -> None:
    run(campaign, "--figures", tmp_path / "completion")
    run(campaign, "--figures", tmp_path / "osu", "--statistic", "osu")
    name = "latency-against-size/bcast-2-ranks.svg"
    assert "Median completion (µs)" in (tmp_path / "completion" / name).read_text()
    assert "OSU average latency (µs)" in (tmp_path / "osu" / name).read_text()
    assert "OSU average latency" in (tmp_path / "osu" / "index.html").read_text()


def test_an_existing_figure_stays_and_nothing_is_written(campaign: Path, tmp_path: Path) -> None:
    run(campaign, "--figures", tmp_path / "figures")
    existing = tmp_path / "figures" / "latency-against-size" / "scatter-2-ranks.pdf"
    existing.write_text("mine")
    (tmp_path / "figures" / "latency-against-size" / "bcast-2-ranks.svg").unlink()
    assert isinstance(run(campaign, "--figures", tmp_path / "figures").exception, UserError)
    assert existing.read_text() == "mine"
    assert not (tmp_path / "figures" / "latency-against-size" / "bcast-2-ranks.svg").exists()
    assert run(campaign, "--figures", tmp_path / "figures", "--force").exception is None


def test_existing_tables_are_not_overwritten(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "tables.md").write_text("mine")
    assert isinstance(run(campaign, "--figures", tmp_path / "figures").exception, UserError)
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["tables.md"]


def test_all_figures_need_a_folder(campaign: Path) -> None:
    assert isinstance(run(campaign, "--all-figures").exception, UserError)


def test_the_page_has_the_studies_tables_too(campaign: Path) -> None:
    run(campaign)
    page = (campaign / "report.html").read_text()
    assert 'id="study-tables"' in page
    assert "Broadcast, linear: OSU average latency (µs)" in page
