"""Pages that end with a checksum of the page and of the table that it describes."""

import re
from pathlib import Path

from timpani.campaign.folder.sealed import checksum
from timpani.reading import read_bytes
from timpani.tune.table_file import TABLE_FILE, read_table

_END = re.compile(r"\nChecksum `(?P<checksum>[0-9a-f]{16})` of this page and of `[^`]+`; [^\n]+\n\Z")


def seal_page(page: str, table: str) -> str:
    """`page`, followed by a checksum of `page` and of `table`, the text of the table that it describes."""
    sealed = f"Checksum `{_checksum(page, table)}` of this page and of `{TABLE_FILE}`"
    return f"{page}\n{sealed}; `timpani check` verifies it.\n"


def page_problem(path: Path) -> str | None:
    """The reason not to trust the page at `path`; None if neither the page nor the table next to it was changed."""
    step = "`timpani tune` and `timpani confirm` write it"
    text, table = (read_bytes(each, step).decode(errors="replace") for each in (path, path.with_name(TABLE_FILE)))
    found = _END.search(text)
    if found is None:
        return f"{path} has no checksum: it was changed since it was written"
    if found["checksum"] != _checksum(text[: found.start()], table):
        return f"{path} was changed since it was written, or belongs to another {TABLE_FILE}"
    return None


def verify_tuned(folder: Path, pages: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The unchanged files among the table and the `pages` in `folder`, and the problems of the changed ones.

    UserError if the table was changed or can't be read.
    """
    read_table(folder / TABLE_FILE)
    there = [name for name in pages if (folder / name).exists()]
    problems = {name: problem for name in there if (problem := page_problem(folder / name))}
    return [TABLE_FILE, *(name for name in there if name not in problems)], list(problems.values())


def _checksum(page: str, table: str) -> str:
    return checksum(page.encode(errors="surrogateescape"), table)
