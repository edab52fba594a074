"""A file put among the figures is all that a new figure takes: the one of docs/how-to/add-a-chart.md."""

import re
import sys
from pathlib import Path

import pytest
import vl_convert

from tests.report.conftest import synthetic_results
from tests.report.page.test_page import Page, campaign_of, small
from timpani.campaign.folder.load import Campaign
from timpani.report import figures as folder
from timpani.report.page.page import render

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-chart.md"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Scatters on 2 and 4 ranks: two sizes of two algorithms."""
    results = [result for result in small(synthetic_results()) if result.cell.algorithm.name in ("default", "bruck")]
    return campaign_of(tmp_path_factory.mktemp("few") / "campaign", results)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's file in a folder that counts as the figures'."""
    found = re.search(r"^<!-- file: (\w+)\.py -->\n```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found
    file = tmp_path / f"{found[1]}.py"
    file.write_text(found[2])
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f"{folder.__name__}.{file.stem}", raising=False)
    return file


def test_the_page_has_its_section_its_figure_and_its_column(planted: Path, few: Campaign) -> None:
    page = Page(render(few))
    sections = [text for level, text in page.headings if level == "h2"]
    assert sections[-1] == "Provenance and methods"
    assert "Skew of the start" in sections
    assert "start-skew-scatter" in {values.get("data-panel") for tag, values in page.elements if tag == "figure"}
    assert "skew_us" in page.data["tables"]["cells"]
    assert vl_convert.vegalite_to_vega(page.data["panels"]["start-skew-scatter"]["specification"])["marks"]
