"""The pages of the site as mkdocs reads them: the repository's, with the gallery, below one folder."""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from tools.site.gallery import Gallery
from tools.site.navigation import GALLERY, Navigation, navigation, pages_in
from tools.studies import copy_full_pages
from tools.tables import reference_pages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

_FIRST_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_REQUESTED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(https?://[^"'\s>]+)|"""
    r"""<link\b[^>]*\brel=["']?(?:stylesheet|preconnect|icon|preload)[^>]*\bhref=["']?(https?://[^"'\s>]+)"""
)


def write_pages(folder: Path) -> Navigation:
    """Write all pages, figures and scripts into `folder`, a new one; returns the navigation.

    The paths below `folder` are those of the repository, so that links lead where they lead there.
    """
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copytree(HERE / "assets", folder / "assets")
    reference = reference_pages()
    for name, text in reference.items():
        (folder / "docs" / name).write_text(text)
    full = copy_full_pages(ROOT / "build" / "studies", folder / "docs" / "studies")
    entries = navigation(ROOT, Gallery.build().write(folder / GALLERY), reference, full)
    for name in pages_in(entries):
        page = folder / name
        if not page.exists():
            shutil.copy(ROOT / name, page)
        page.write_text(for_python_markdown(with_reference(page.read_text(), reference)))
    return entries


def with_reference(text: str, reference: Iterable[str]) -> str:
    """A page with links to the reference pages, in place of those to their sections in reference.md."""
    for page in reference:
        name = page.removesuffix(".md")
        text = re.sub(rf"(?<=[(/])reference\.md#{name}(?=\))", page, text)
        text = re.sub(rf"^### ({name.replace('-', ' ')})$", rf"### [\1]({page})", text, flags=re.M | re.I)
    return text


def for_python_markdown(text: str) -> str:
    """A page of the repository for Python-Markdown.

    It reads Markdown inside an HTML element only where the element says so, and a title only in the first line.
    """
    return _FIRST_COMMENT.sub("", text).replace("<details>\n", '<details markdown="1">\n')


def write_settings(path: Path, pages: Path, site: Path, entries: Navigation) -> None:
    """Write mkdocs's settings to `path`: those of mkdocs.yml with the navigation `entries`. JSON is YAML, too."""
    settings = {
        "INHERIT": str(HERE / "mkdocs.yml"),
        "docs_dir": str(pages.resolve()),
        "site_dir": str(site.resolve()),
        "nav": entries,
    }
    path.write_text(json.dumps(settings, indent=2))


def requests(site: Path) -> dict[str, str]:
    """What pages of the built site would request from a network: the first address by the page's path."""
    found = ((page, _REQUESTED.search(page.read_text())) for page in sorted(site.rglob("*.html")))
    return {page.relative_to(site).as_posix(): match[1] or match[2] for page, match in found if match}
