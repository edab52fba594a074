"""`timpani report`: which figures it writes, and of which statistic they are."""

import csv
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.report.conftest import (
    RANKS,
    SIZES,
    synthetic_header,
    synthetic_launches,
    synthetic_results,
    write_campaign,
)
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


def test_every_table_of_the_report_is_written_in_three_formats(campaign: Path, tmp_path: Path) -> None:
    printed = run(campaign, "--figures", tmp_path / "f", "--published", "holt").stdout
    assert "Median completion (µs)" in (tmp_path / "f" / "latency-against-size" / "bcast-2-ranks.svg").read_text()
    tables = tmp_path / "f" / "tables"
    names = {"decisions", "speedup", "models", "likeness", "knees"}
    assert {path.name for path in tables.iterdir()} == {
        f"{name}.{end}" for name in names for end in ("tex", "md", "csv")
    }
    assert all(name in printed for name in names)
    for name in names:
        text = (tables / f"{name}.tex").read_text()
        assert text.count("\\toprule") == text.count("\\end{tabular}") > 0
        assert set(re.findall(r"[^\x00-\x7f]", text)) <= set("“”’…"), "LaTeX knows the characters"
    decided = list(csv.DictReader((tables / "decisions.csv").open()))
    assert len(decided) == len(RANKS) * (2 * len(SIZES) - 1), (
        "linear failed at the largest size, so nothing is compared"
    )
    large = next(each for each in decided if each["point"] == "2 ranks, 4 MiB" and "Scatter" in each["table"])
    assert (large["fastest"], large["the default is"]) == ("default", "within 5 % of the best")
    assert large["× as fast as the default, low"]
    slower = list(csv.DictReader((tables / "speedup.csv").open()))
    assert all(float(each["bruck"]) < 1 and each["bruck, low"] for each in slower if "Scatter" in each["table"])


def test_an_existing_figure_stays_and_nothing_is_written(campaign: Path, tmp_path: Path) -> None:
    run(campaign, "--figures", tmp_path / "figures", "--statistic", "osu")
    assert "OSU average latency" in (tmp_path / "figures" / "index.html").read_text()
    existing = tmp_path / "figures" / "latency-against-size" / "scatter-2-ranks.pdf"
    existing.write_text("mine")
    (tmp_path / "figures" / "latency-against-size" / "bcast-2-ranks.svg").unlink()
    assert isinstance(run(campaign, "--figures", tmp_path / "figures").exception, UserError)
    assert existing.read_text() == "mine"
    assert not (tmp_path / "figures" / "latency-against-size" / "bcast-2-ranks.svg").exists()


def test_without_an_answer_the_page_shows_curves_and_folds_the_rest(tmp_path: Path) -> None:
    few = [each for each in synthetic_results() if each.launch <= 2 and each.cell.ranks == 2]
    folder = write_campaign(tmp_path / "few", synthetic_header(), few, synthetic_launches())
    run(folder)
    page = (folder / "report.html").read_text()
    assert "Speed-up against the default (not compared: 2 of " in page
    titles = re.findall(r'(<summary>)?<h2 id="([a-z-]+)-title"', page)
    assert {name for folded, name in titles if not folded} == {"verdict", "size", "failed", "caveats", "provenance"}
