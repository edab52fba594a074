"""The navigation of the manual, from the pages that list others: how-tos, reference, studies, notebook, decisions.

A page that no list names has no place in the navigation; tests/test_docs.py names it.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Navigation = list[Any]
"""Pages and sections in order, as mkdocs reads them: a path below the repository's root, {title: path}, or
{title: Navigation}."""

GALLERY = "docs/algorithms"
"""Where the generated pages of algorithms stand. Only the site has them."""

_LINK = re.compile(r"\]\((?P<target>[^)\s#]+\.md)(?:#[^)]*)?\)")
_GROUP = re.compile(r"^\| \*\*(?P<title>.+)\*\* \|")


def navigation(
    root: Path, gallery: Iterable[str] = (), reference: Iterable[str] = (), full: Iterable[str] = ()
) -> Navigation:
    """The navigation of the pages in the repository `root`.

    gallery    pages of GALLERY
    reference  reference pages that are made with the site
    full       full pages of studies
    """
    benchmarks = "docs/benchmarks.md"
    return [
        {"Home": "README.md"},
        {"Tutorial": "docs/tutorial.md"},
        {"How-tos": _listed(root, "docs/how-to/README.md")},
        {"Reference": [*_listed(root, "docs/reference.md"), *(f"docs/{name}" for name in reference)]},
        {"Methodology": ["docs/methodology.md", {"Benchmarks": _listed(root, benchmarks)}]},
        {"Studies": [*_listed(root, "docs/studies/README.md"), *full]},
        {"Algorithms": [f"{GALLERY}/{name}" for name in gallery]},
        {"Notebook": _listed(root, "docs/notebook/README.md")},
        {
            "Project": [
                "CONTRIBUTING.md",
                "docs/architecture.md",
                "docs/planted-faults.md",
                {"Decisions": _listed(root, "docs/decisions/README.md")},
                "SECURITY.md",
                "CHANGELOG.md",
            ]
        },
    ]


def pages_in(entries: Navigation) -> Iterator[str]:
    """The paths of all pages in a navigation, in order."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for section in entry.values():
                yield from [section] if isinstance(section, str) else pages_in(section)


def _listed(root: Path, index: str) -> Navigation:
    """The page `index`, then what its tables link to in its folder or below; rows in bold begin a section.

    A page that several rows or lists name stands where it is named first.
    """
    folder = (root / index).parent
    entries: Navigation = [index if index.endswith("README.md") else {"Overview": index}]
    section = entries
    seen = {index}
    for line in (root / index).read_text().splitlines():
        if not line.startswith("|"):
            continue
        if group := _GROUP.match(line):
            section = []
            entries.append({group["title"][0].upper() + group["title"][1:]: section})
        for link in _LINK.finditer(line):
            page = folder / link["target"]
            name = page.relative_to(root).as_posix() if ".." not in link["target"] else index
            if name not in seen:
                section.append(name)
                seen.add(name)
    return entries
