"""The site's navigation has every page once, its gallery shows what the simulator knows, and it needs no network."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tools.site.gallery import Gallery
from tools.site.navigation import navigation, pages_in
from tools.site.pages import requests, with_reference

from tests.installed import needs_compiler

ROOT = Path(__file__).parents[1]


def test_every_page_is_in_the_navigation_once() -> None:
    """A missing page is listed where its folder lists pages: docs/how-to/README.md, docs/reference.md and so on."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert Counter(pages_in(navigation(ROOT))) == Counter(page.relative_to(ROOT).as_posix() for page in pages)


@needs_compiler
def test_a_page_shows_each_algorithm_of_its_collective(tmp_path: Path) -> None:
    gallery = Gallery.build()
    barrier = gallery.own.algorithms["barrier"]
    small = replace(gallery, own=replace(gallery.own, algorithms={"barrier": barrier}))
    assert small.write(tmp_path / "algorithms") == ["README.md", "barrier.md"]
    page = (tmp_path / "algorithms" / "barrier.md").read_text()
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [info.name for info in barrier]
    pictures = {path.name for path in (tmp_path / "algorithms" / "figures").iterdir()}
    assert pictures == {f"barrier-{info.name}.svg" for info in barrier}
    assert all(f"(figures/{name})" in page for name in pictures)
    assert "--nodes 4 --groups 2" in page.partition("## two_level")[2]


def test_lists_in_lists_are_indented_for_python_markdown() -> None:
    """It takes four spaces; GitHub takes two and more."""
    fenced = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    short = re.compile(r"^ {1,3}(?:[-*]|\d+\.) ", re.MULTILINE)
    assert [page.name for page in pages if short.search(fenced.sub("", page.read_text()))] == []


def test_a_page_links_to_the_reference_pages_of_the_site() -> None:
    text = (
        "[fields](../reference.md#campaign-fields), [columns](reference.md#columns), [all](reference.md)\n### Columns\n"
    )
    assert with_reference(text, ["columns.md", "campaign-fields.md"]) == (
        "[fields](../campaign-fields.md), [columns](columns.md), [all](reference.md)\n### [Columns](columns.md)\n"
    )


def test_a_request_to_a_network_is_found(tmp_path: Path) -> None:
    (tmp_path / "quiet.html").write_text('<a href="https://example.org">link</a><script src="a.js"></script>')
    assert requests(tmp_path) == {}
    (tmp_path / "loud.html").write_text('<link rel="stylesheet" href="https://example.org/font.css">')
    assert requests(tmp_path) == {"loud.html": "https://example.org/font.css"}
