"""Write what comes from the code: tables and lists in docs/, and the reference pages in build/reference: `make tables`.

`--check` only compares docs/. An argument names another checkout's folder. In a page of docs/ a table stands below its
mark, `<!-- table: NAME -->`.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timpani.study.keys import KEYS, REQUIRED, Key
from tools.command_reference import commands_page, markdown_table
from tools.python_reference import python_page
from tools.reference import described_pages

REFERENCE = "build/reference"
"""Where the reference pages are written, below a checkout; no file of them is in Git."""

_STUDY_FILES = "study-files.md"
_DECISIONS = "decisions/README.md"
_PYTHON = "how-to/use-from-python"
_MARKED = re.compile(r"(?<=^<!-- table: study_keys -->\n)(?:\|.*\n)*", re.MULTILINE)
_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def reference_pages() -> dict[str, str]:
    """The pages that are made with the site, by their names below docs/."""
    return {"commands.md": commands_page(), **described_pages(), "python-api.md": python_page()}


def study_files_page(docs: Path) -> str:
    """The page of study files with the table of keys."""
    rows = ((f"`{name}`", _default(key), key.documented) for name, key in KEYS.items())
    table = markdown_table(("key", "default", "what"), rows)
    return _MARKED.sub(lambda _: table, (docs / _STUDY_FILES).read_text())


def _default(key: Key) -> str:
    if key.default is REQUIRED:
        return "required"
    return "none" if key.default is None else f"`{json.dumps(key.default)}`"


def decisions_page(docs: Path) -> str:
    """The list of decisions, from their headings."""
    pages = sorted((docs / _DECISIONS).parent.glob("[0-9]*.md"))
    headings = ((page.name, page.read_text().partition("\n")[0].removeprefix("# ")) for page in pages)
    rows = [
        (number, f"[{title}]({name})") for name, heading in headings for number, _, title in [heading.partition(". ")]
    ]
    return "# Decisions\n\nEach decision with its reason and the rejected alternatives.\n\n" + markdown_table(
        ("number", "decision"), rows
    )


def notebook(page: str) -> str:
    """A page with Python examples as a Jupyter notebook: JSON (nbformat 4.4, whose cells need no ids)."""
    parts = _EXAMPLE.split(page)  # text and examples alternate
    cells = [_cell("code" if place % 2 else "markdown", part.strip()) for place, part in enumerate(parts)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, source: str) -> dict[str, Any]:
    outputs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **outputs}


IN_GIT: dict[str, Callable[[Path], str]] = {
    _STUDY_FILES: study_files_page,
    _DECISIONS: decisions_page,
    f"{_PYTHON}.ipynb": lambda docs: notebook((docs / f"{_PYTHON}.md").read_text()),
}
"""Files in docs/ with generated parts, each written from the folder of the pages."""


def main(arguments: list[str]) -> int:
    """Write all, or with `--check` name the pages of docs/ that differ; the exit status, 1 where one does."""
    check = "--check" in arguments
    named = [each for each in arguments if each != "--check"]
    root = Path(named[0]) if named else Path(__file__).parents[1]
    differing = []
    for page, write in ((root / "docs" / name, write) for name, write in IN_GIT.items()):
        new = write(root / "docs")
        if not page.exists() or page.read_text() != new:
            differing.append(page)
            if not check:
                page.write_text(new)
    if not check:
        (root / REFERENCE).mkdir(parents=True, exist_ok=True)
        for name, text in reference_pages().items():
            (root / REFERENCE / name).write_text(text)
    for page in differing:
        print(f"{page} {'differs from the declarations; run `make tables`' if check else 'rewritten'}")
    return int(check and bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
