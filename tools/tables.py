"""Write the reference pages of docs/ from the declarations in the code: `make tables`; `--check` only compares.

A table stands below its mark, `<!-- table: NAME -->`. An argument names another checkout's folder.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import get_type_hints

from timpani.campaign.folder.fields import EndingFields, ProofFields, StartFields
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import COPIED, RECORDED
from timpani.campaign.folder.raw_record import Measured
from timpani.campaign.folder.recorded import Recorded, recorded_fields
from timpani.campaign.read.cell_columns import ADDED, FURTHER, STABLE, Column
from timpani.study.keys import KEYS, REQUIRED, Key
from timpani.study.schema import CELL
from tools.command_reference import commands_page
from tools.notebook import notebook
from tools.python_reference import python_page

PAGES = ("columns.md", "study-files.md", "campaign-folder.md")
_MARKED = re.compile(r"(?<=^<!-- table: )(?P<name>\w+) -->\n(?P<table>(?:\|.*\n)*)", re.MULTILINE)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" if cells[0] != "---" else f"|{'|'.join(cells)}|\n" for cells in lines)


_DECISIONS = "decisions/README.md"
_PYTHON = "how-to/use-from-python"


def decisions_page(docs: Path) -> str:
    """The list of decisions, from their headings."""
    pages = sorted((docs / _DECISIONS).parent.glob("[0-9]*.md"))
    headings = ((page.name, page.read_text().partition("\n")[0].removeprefix("# ")) for page in pages)
    rows = [
        (number, f"[{title}]({name})") for name, heading in headings for number, _, title in [heading.partition(". ")]
    ]
    return "# Decisions\n\nEach decision with its reason and the rejected alternatives.\n\n" + _table(
        ("number", "decision"), rows
    )


WHOLE_PAGES: dict[str, Callable[[Path], str]] = {
    "commands.md": lambda docs: commands_page(),
    "python-api.md": lambda docs: python_page(),
    _DECISIONS: decisions_page,
    f"{_PYTHON}.ipynb": lambda docs: notebook((docs / f"{_PYTHON}.md").read_text()),
}
"""Files that consist of generated text alone, each written from the folder of the pages."""


def _default(key: Key) -> str:
    if key.default is REQUIRED:
        return "required"
    return "none" if key.default is None else f"`{json.dumps(key.default)}`"


def _keys() -> str:
    return _table(
        ("key", "default", "what"), ((f"`{name}`", _default(key), key.documented) for name, key in KEYS.items())
    )


def _columns(columns: Iterable[Column]) -> str:
    return _table(("column", "type", "meaning"), ((f"`{each.name}`", each.type, each.documented) for each in columns))


def _fields(recorded: Mapping[str, Recorded], before: Iterable[tuple[str, str]] = ()) -> str:
    return _table(("field", "what"), (*before, *((f"`{name}`", each.documented) for name, each in recorded.items())))


def tables() -> dict[str, str]:
    """Each table by its name."""
    cell = ", ".join(f"`{name}`" for name in CELL)
    measured = recorded_fields(Measured)
    as_result = {name: Recorded("as in results.jsonl") for name in COPIED if name not in get_type_hints(Measured)}
    return {
        "study_keys": _keys(),
        "stable_columns": _columns(STABLE),
        "further_columns": _columns((*FURTHER, *ADDED)),
        "header": _fields(recorded_fields(Header)),
        "results": _fields(RECORDED, [(cell, "the cell, as in [columns.md](columns.md)")]),
        "launches": _fields(recorded_fields(StartFields)),
        "endings": _fields(recorded_fields(EndingFields), [("`part`", "the folder under `launches/`")]),
        "proofs": _fields(recorded_fields(ProofFields), [(cell, "the cell")]),
        "measured": _fields({**measured, **as_result}),
    }


def main(arguments: list[str]) -> int:
    """Write the tables, or with `--check` name the pages that have others; the exit status, 1 where one has."""
    check = "--check" in arguments
    named = [each for each in arguments if each != "--check"]
    docs = (Path(named[0]) if named else Path(__file__).parents[1]) / "docs"
    made, found, differing = tables(), set[str](), []
    for page in (docs / name for name in PAGES):
        text = page.read_text()
        found |= {match["name"] for match in _MARKED.finditer(text)}
        new = _MARKED.sub(lambda match: f"{match['name']} -->\n{made[match['name']]}", text)
        if new != text:
            differing.append(page)
            if not check:
                page.write_text(new)
    for page, write in ((docs / name, write) for name, write in WHOLE_PAGES.items()):
        new = write(docs)
        if not page.exists() or page.read_text() != new:
            differing.append(page)
            if not check:
                page.write_text(new)
    if missing := made.keys() - found:
        print(f"no page has the table {', '.join(sorted(missing))}; write its mark where it belongs", file=sys.stderr)
    for page in differing:
        print(f"{page} {'differs from the declarations; run `make tables`' if check else 'rewritten'}")
    return int(bool(missing) or (check and bool(differing)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
