"""The reference pages of columns, fields of files and keys of JSON, which are made with the site.

Their text is in reference.toml; tables of columns and fields come from the declarations in the code.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any, get_type_hints

from timpani.campaign.folder.fields import EndingFields, JobFields, ProofFields, Recorded, StartFields, recorded_fields
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import COPIED, RECORDED
from timpani.campaign.folder.raw_record import Measured
from timpani.campaign.read.campaign_warnings import MachineLoad
from timpani.judge.cell_columns import ADDED, FURTHER, STABLE, Column
from timpani.judge.jobs import JobScope
from timpani.judge.raced import RaceVerdict
from timpani.judge.verdict import DecisionForecast
from timpani.study.schema import CELL
from tools.command_reference import markdown_table


def described_pages() -> dict[str, str]:
    """The pages of reference.toml by the names of their files."""
    made = tables()
    return {f"{name}.md": _page(page, made) for name, page in descriptions().items()}


@cache
def descriptions() -> dict[str, Any]:
    """What reference.toml holds: each page has a title and parts; a part has a heading, text, and rows or a table."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


def described_keys(page: str, head: str) -> set[str]:
    """The keys that the table below `head` of a page describes."""
    rows = next(part["rows"] for part in descriptions()[page]["parts"] if part.get("head", [""])[0] == head)
    return {key for keys in rows for key in keys.split(", ")}


def _page(page: Mapping[str, Any], made: Mapping[str, str]) -> str:
    parts = [f"# {page['title']}\n"]
    for part in page["parts"]:
        parts += [f"## {part['heading']}\n"] if "heading" in part else []
        parts += [part["text"]] if "text" in part else []
        parts += [made[part["table"]]] if "table" in part else []
        parts += [markdown_table(tuple(part["head"]), map(_described, part["rows"].items()))] if "rows" in part else []
    return "\n".join(parts)


def _described(row: tuple[str, str]) -> tuple[str, ...]:
    keys, text = row
    return ", ".join(f"`{key}`" for key in keys.split(", ")), *text.split(" | ")


def _columns(columns: Iterable[Column]) -> str:
    rows = ((f"`{each.name}`", each.type, each.documented) for each in columns)
    return markdown_table(("column", "type", "meaning"), rows)


def _fields(recorded: Mapping[str, Recorded], before: Iterable[tuple[str, str]] = ()) -> str:
    rows = ((f"`{name}`", each.documented) for name, each in recorded.items())
    return markdown_table(("field", "what"), (*before, *rows))


_MODELS = {"race": RaceVerdict, "forecast": DecisionForecast, "load": MachineLoad, "jobs_held_for": JobScope}
"""Classes whose fields are keys of an object in JSON, by the names of their tables."""

_FIELD = re.compile(r"^(\w+(?:, \w+)*)  +(\S.*(?:\n  +.*)*)", re.MULTILINE)
"""A field in a docstring, `name  meaning`, and what continues it."""


def _model(model: type[Any]) -> str:
    """A row for what the docstring of a dataclass says of each field; one that it does not name speaks for itself."""
    found = {
        names: " ".join(meaning.split()).replace("None", "null")
        for names, meaning in _FIELD.findall(getdoc(model) or "")
    }
    named = {name for names in found for name in names.split(", ")}
    unnamed = {each.name: "" for each in fields(model) if each.name not in named}
    return markdown_table(("key", "what"), map(_described, {**unnamed, **found}.items()))


def tables() -> dict[str, str]:
    """The tables of columns and recorded fields, by the names that reference.toml gives them."""
    where = ", ".join(f"`{name}`" for name in CELL)
    measured = recorded_fields(Measured)
    as_result = {name: Recorded("as in results.jsonl") for name in COPIED if name not in get_type_hints(Measured)}
    return {
        **{name: _model(model) for name, model in _MODELS.items()},
        "stable_columns": _columns(STABLE),
        "further_columns": _columns((*FURTHER, *ADDED)),
        "header": _fields(recorded_fields(Header)),
        "results": _fields(RECORDED, [(where, "the cell, as in [columns](columns.md)")]),
        "jobs": _fields(recorded_fields(JobFields)),
        "launches": _fields(recorded_fields(StartFields)),
        "endings": _fields(recorded_fields(EndingFields), [("`part`", "the folder under `launches/`")]),
        "proofs": _fields(recorded_fields(ProofFields), [(where, "the cell")]),
        "measured": _fields({**measured, **as_result}),
    }
