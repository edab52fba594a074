"""The selection table as a file, `table.json` of the folder that `timpani tune` writes, and its sealed pages.

A page ends with a checksum of the page and of the table that it describes.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from timpani.campaign.folder.sealed import SealedFile, checksum
from timpani.errors import UserError
from timpani.reading import read_bytes
from timpani.study.operations import COLLECTIVES
from timpani.study.selection import Rule, SelectionTable
from timpani.study.trust import code_of, is_trusted, not_trusted
from timpani.study.variant import parse_variant

TABLE_FILE = "table.json"
_STEP = "`timpani tune` writes it"
FILE = SealedFile("a selection table", "selection", _STEP)
_TABLE = TypeAdapter(SelectionTable)
_ONLY_WHERE_GIVEN = ("predicted", "setting")


class _Format(BaseModel):
    """The keys of the file that are not the table's."""

    model_config = ConfigDict(strict=True)

    format: Literal["timpani-selection"] = "timpani-selection"
    version: Literal[1] = 1


def table_text(table: SelectionTable, folder: Path) -> str:
    """The table as JSON for `folder`, with a checksum at its end.

    Campaigns in the folder are named by relative paths, so that the folder can be moved.
    """
    campaigns = tuple(_relative_path(folder.resolve(), each) for each in table.campaigns)
    written = _TABLE.dump_python(replace(table, campaigns=campaigns), mode="json", by_alias=True)
    given = {name: value for name, value in written.items() if name not in _ONLY_WHERE_GIVEN or value is not None}
    values = {**_Format().model_dump(), **given}
    return FILE.text(values).decode()


def read_table(path: Path) -> SelectionTable:
    """The table in `path`; UserError if the file is missing, is no selection table, or was changed after writing."""
    try:
        table = FILE.read(path, _table)
    except FileNotFoundError:
        raise UserError(f"no table found: {path}", _STEP) from None
    predicted = table.predicted.rules if table.predicted else ()
    for rule in (*table.rules, *predicted):
        _check(rule, path)
    if not all(rule.predicted for rule in predicted):
        raise UserError(f"{path}: a predicted rule has launches, which only measured rules have", _STEP)
    return replace(table, campaigns=tuple(str(path.parent.resolve() / each) for each in table.campaigns))


def read_table_to_use(folder: Path) -> SelectionTable:
    """The table of a folder whose files and setting will be switched on.

    UserError where the setting can run programs, and nobody agreed to the table.
    """
    table = read_table(folder / TABLE_FILE)
    if table.setting and not is_trusted(folder / TABLE_FILE):
        does = list(code_of(parse_variant(table.setting.settings)))
        if does:
            raise not_trusted(folder / TABLE_FILE, table.setting.name, does)
    return table


def _table(values: dict[str, Any]) -> SelectionTable:
    _Format.model_validate(values)
    of_table = {name: each for name, each in values.items() if name not in _Format.model_fields}
    return _TABLE.validate_json(json.dumps(of_table))


def _check(rule: Rule, path: Path) -> None:
    if rule.collective not in COLLECTIVES:
        raise UserError(f"{path}: {rule.collective!r} is no collective", _STEP)
    spans = {"ranks": rule.ranks, "nodes": rule.nodes, "per_node": rule.per_node, "bytes": rule.sizes}
    for name, span in spans.items():
        if span.last is not None and span.last < span.first:
            raise UserError(f"{path} is no selection table: a rule's {name} end before they begin", _STEP)


def _relative_path(folder: Path, campaign: str) -> str:
    return str(Path(campaign).relative_to(folder)) if Path(campaign).is_relative_to(folder) else campaign


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
