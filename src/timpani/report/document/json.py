"""A document as JSON: blocks by their names, with numbers in full."""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

from timpani.report.document.blocks import Block, Bullets, Document, DrawnFigure, Heading, NextCommand, Sentence
from timpani.report.document.table import Table, Value


def json_of(document: Document) -> str:
    """An object with the title and a key for each name of blocks; several blocks of a name are a list."""
    return json_text({"title": document.title, **blocks_object(document.blocks)})


def json_text(value: Any) -> str:
    """What every command prints as JSON; ValueError for an infinity or NaN, which JSON cannot express."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def finite(number: float | None) -> float | None:
    """`number`, or None for an infinity or NaN, which JSON cannot express."""
    return number if number is not None and isfinite(number) else None


def blocks_object(blocks: Sequence[Block]) -> dict[str, Any]:
    """What each block holds by its name, without headings and figures."""
    found: dict[str, list[Any]] = {}
    for block in blocks:
        if not isinstance(block, Heading | DrawnFigure):
            found.setdefault(block.name, []).append(_content(block))
    return {name: each[0] if len(each) == 1 else each for name, each in found.items()}


def _content(block: Sentence | Bullets | NextCommand | Table) -> Any:
    match block:
        case Sentence():
            return {"text": block.text, **block.values} if block.values else block.text
        case Bullets():
            return list(block.items)
        case NextCommand():
            return {"about": block.about, "command": block.command} if block.about else block.command
        case Table():
            rows = [dict(zip(block.columns, map(_value, row), strict=True)) for row in block.rows]
            above = {"caption": block.caption, "notes": [*block.notes, *block.footnotes]}
            return {**{name: value for name, value in above.items() if value}, "rows": rows}


def _value(value: Value) -> Any:
    content = value.content if isinstance(value.content, str) else finite(value.content)
    bounds = {"low": finite(value.low), "high": finite(value.high)}
    further = {
        **(bounds if any(bound is not None for bound in bounds.values()) else {}),
        **({"detail": value.detail} if value.detail else {}),
        **({"marks": value.marks} if value.marks else {}),
        **({"best": True} if value.best else {}),
    }
    return {"value": content, **further} if further else content
