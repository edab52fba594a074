"""The pages of the studies are what their commands print."""

import re
import shutil
from pathlib import Path

import pytest
from tools.studies import FULL, PAGES, STUDY_PAGES, copy_full_pages, timpani, write_page

from tests.installed import rest
from timpani.studies.claim import claims_of
from timpani.study.compose import shipped_studies

MAX_WORDS = 600
MAX_SVG_BYTES = 100_000
MALASI = next(page for page in STUDY_PAGES if page.author == "malasi")


def test_each_study_has_a_short_page_with_all_its_conclusions() -> None:
    studies = {each.name for each in shipped_studies()} - {"demo"}
    assert {page.study for page in STUDY_PAGES} == studies
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *studies}
    for page in STUDY_PAGES:
        text = (PAGES / f"{page.study}.md").read_text()
        assert f"$ {page.run}\n" in text
        assert len([word for word in text.split() if re.search(r"\w", word)]) <= MAX_WORDS
        assert [claim.says for claim in claims_of(page.study) if f"\n| {claim.says} | " not in text] == []


def test_figures_are_few_small_and_shown() -> None:
    figures = [path for path in (PAGES / "figures").rglob("*") if path.is_file()]
    assert all(path.stat().st_size <= MAX_SVG_BYTES for path in figures)
    pages = "".join(path.read_text() for path in PAGES.glob("*.md"))
    assert [path for path in figures if f"]({path.relative_to(PAGES).as_posix()})" not in pages] == []


@rest
def test_the_pages_have_what_the_commands_print(tmp_path: Path) -> None:
    """Of a small campaign: the published table in the place of one."""
    campaigns, pages, site = tmp_path / "campaigns", tmp_path / "pages", tmp_path / "site"
    for folder in (campaigns, pages):
        folder.mkdir()
    shutil.copytree(PAGES, site)
    timpani(f"timpani import --published {MALASI.published} -o {MALASI.campaign}", campaigns)
    short = write_page(MALASI, campaigns, pages).read_text()
    full = (campaigns / FULL / f"{MALASI.study}.md").read_text()
    assert timpani(f"timpani compare {MALASI.campaign} --published malasi", campaigns).rstrip() in full
    shown = timpani(f"timpani show {MALASI.campaign} --layout ranks --format markdown", campaigns)
    assert all(line in full for line in shown.splitlines() if line.startswith("| "))
    committed = (PAGES / f"{MALASI.study}.md").read_text()
    published = [line.rpartition(" | ")[0] for line in committed.splitlines() if line.startswith("| ")]
    assert all(line in short for line in published)
    drawn = {path.name for path in pages.rglob("*.svg")}
    assert drawn
    assert all(name in short for name in drawn)
    assert copy_full_pages(campaigns, site) == [f"docs/studies/{MALASI.study}-full.md"]
    assert drawn <= {path.name for path in site.rglob("*.svg")}
    assert f"]({MALASI.study}-full.md)" in (site / f"{MALASI.study}.md").read_text()
    shutil.rmtree(campaigns / MALASI.campaign)
    with pytest.raises(Exception, match="returned non-zero exit status"):
        write_page(MALASI, campaigns, pages)
