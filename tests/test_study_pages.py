"""The pages of the studies are what their commands print."""

import re
import shutil
from pathlib import Path

import pytest
from tools.studies import PAGES, STUDY_PAGES, StudyPage, timpani, write_page

from tests.installed import needs_simgrid
from timpani.study.shipped import shipped_studies
from timpani.tuning.claims.claims import claims_of

MAX_SVG_BYTES = 100_000
MAX_BYTES = 3_000_000
MALASI = next(page for page in STUDY_PAGES if page.author == "malasi")
VERDICTS = "## What agrees"
ITEMS = "item-by-item"
WORDS = (
    "nothing against it|partly against it|against it|no difference|holds in part|holds|does not hold|undecided"
    "|not testable here"
)
CONCLUSION = re.compile(
    rf"^- (?P<by>[^:\n]+): (?P<says>.+)\n    test: .*\n"
    rf"    published.*?: (?P<published>{WORDS})(?P<of_published>.*)\n    here.*?: (?P<here>{WORDS})(?P<of_here>.*)$",
    re.MULTILINE,
)
"""A conclusion as `timpani compare` prints it, with both verdicts."""


def without_verdicts(page: str) -> str:
    """The page without the conclusions, whose words have tests of their own."""
    before, _, after = page.partition(VERDICTS)
    return before + after[after.index("## Figures") :]


def test_each_study_has_a_page() -> None:
    studies = {each.name for each in shipped_studies()} - {"demo"}
    assert {page.study for page in STUDY_PAGES} == studies
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", ITEMS, *studies}
    for page in STUDY_PAGES:
        text = (PAGES / f"{page.study}.md").read_text()
        assert f"$ {page.run}\n" in text
        assert VERDICTS in text
        assert f"](figures/{page.study}/" in text


def test_the_list_of_conclusions_has_the_verdicts_of_the_pages() -> None:
    def short(verdict: str, rest: str) -> str:
        found = re.match(r"; in (\d+ of \d+) cases", rest)
        return f"{verdict}, {found[1]}" if found else verdict.removesuffix(" here")

    verdicts = {  # shuffled host files have a campaign of their own, later on the page
        (found["by"], found["says"]): (
            short(found["published"], found["of_published"]),
            short(found["here"], found["of_here"]),
        )
        for page in STUDY_PAGES
        for found in CONCLUSION.finditer((PAGES / f"{page.study}.md").read_text())
    }
    expected = [f"| {' | '.join((*conclusion, *both))}" for conclusion, both in verdicts.items()]
    conclusions = (PAGES / f"{ITEMS}.md").read_text().partition("## Conclusions\n")[2].partition("\n## ")[0]
    listed = [line.rpartition(" | ")[0] for line in conclusions.splitlines() if line.startswith("| ")]
    assert sorted(listed[1:]) == sorted(expected)
    assert len(expected) == sum(len(claims_of(page.study)) for page in STUDY_PAGES)


def test_figures_are_small() -> None:
    figures = [path for path in PAGES.rglob("*") if path.is_file()]
    assert all(path.stat().st_size <= MAX_SVG_BYTES for path in figures if path.suffix == ".svg")
    assert sum(path.stat().st_size for path in figures) < MAX_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in STUDY_PAGES if page.published], ids=lambda page: page.author)
def test_the_published_tables_are_those_of_the_package(page: StudyPage, tmp_path: Path) -> None:
    timpani(f"timpani import --published {page.published} -o table", tmp_path)
    written = (PAGES / f"{page.study}.md").read_text()
    shown = timpani(f"timpani show table {page.tables} --format markdown", tmp_path)
    rows = [line for line in shown.splitlines() if line.startswith("| ") and "---" not in line]
    assert rows
    assert not [row for row in rows if row not in written]


@pytest.mark.slow
def test_a_page_has_what_the_commands_print(tmp_path: Path) -> None:
    """Of a small campaign: the published table in the place of one."""
    campaigns, pages = tmp_path / "campaigns", tmp_path / "pages"
    campaigns.mkdir()
    timpani(f"timpani import --published {MALASI.published} -o {MALASI.campaign}", campaigns)
    text = write_page(MALASI, campaigns, pages).read_text()
    compared = timpani(f"timpani compare {MALASI.campaign} --published malasi", campaigns)
    assert compared.rstrip() in text
    shown = timpani(f"timpani show {MALASI.campaign} --layout ranks --format markdown", campaigns)
    assert all(line in text for line in shown.splitlines() if line.startswith("| "))
    drawn = {path.name for path in pages.rglob("*.svg")}
    expected = ("latency-against-size-bcast.svg", "latency-against-size-scatter.svg")
    assert {f"{side}-{name}" for name in expected for side in ("published", "simulated")} <= drawn
    assert all(name in text for name in drawn)
    shutil.rmtree(campaigns / MALASI.campaign)
    with pytest.raises(Exception, match="returned non-zero exit status"):
        write_page(MALASI, campaigns, pages)


@needs_simgrid
def test_the_page_of_full_nodes_is_what_the_generator_writes(tmp_path: Path) -> None:
    timpani(MALASI.run, tmp_path)
    again = write_page(MALASI, tmp_path, tmp_path / "pages")
    assert without_verdicts(again.read_text()) == without_verdicts((PAGES / again.name).read_text())
