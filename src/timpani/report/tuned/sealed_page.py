"""Pages for people that end with a checksum, of the page and of the table that it is about."""

import re
from pathlib import Path

from timpani.campaign.folder.sealed_lines import checksum
from timpani.reading import read_bytes
from timpani.rules.table.table_file import NAME, read_table

_END = re.compile(r"\nChecksum `(?P<checksum>[0-9a-f]{16})` of this page and of `[^`]+`; [^\n]+\n\Z")


def seal_page(page: str, table: str) -> str:
    """`page` with the checksum of all of it and of `table`, the text of the table that it is about."""
    return f"{page}\nChecksum `{_checksum(page, table)}` of this page and of `{NAME}`; `timpani check` verifies it.\n"


def page_problem(path: Path) -> str | None:
    """Why the page at `path` can't be believed; None where it is as it was written, for the table next to it."""
    step = "`timpani tune` and `timpani confirm` write it"
    text, table = (read_bytes(each, step).decode(errors="replace") for each in (path, path.with_name(NAME)))
    found = _END.search(text)
    if found is None:
        return f"{path} has no checksum: it was changed since it was written, or an earlier Timpani wrote it"
    if found["checksum"] != _checksum(text[: found.start()], table):
        return f"{path} was changed since it was written, or is of another {NAME}"
    return None


def verify_tuned(folder: Path, pages: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Which of the table and the `pages` in `folder` are as they were written, and the problems of the others.

    UserError where the table itself can't be believed.
    """
    read_table(folder / NAME)
    there = [name for name in pages if (folder / name).exists()]
    problems = {name: problem for name in there if (problem := page_problem(folder / name))}
    return [NAME, *(name for name in there if name not in problems)], list(problems.values())


def _checksum(page: str, table: str) -> str:
    return checksum(page.encode(errors="surrogateescape"), table)
