"""The table of variants: how each was started, and what the library took of it."""

from collections.abc import Mapping

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.libraries.registry import LIBRARIES
from timpani.report.tables.report_table import Table, Value
from timpani.study.cell import DEFAULT

_MAX_CHANGED_ROWS = 8
"""Control variables of a variant that are shown; campaign.json holds all."""

_MAX_VALUE_CHARACTERS = 60  # characters


def variant_tables(header: Header) -> list[Table]:
    """One table with a row for each variant; none for a campaign without variants."""
    if not header.variants:
        return []
    reference = header.variants.get(DEFAULT)
    rows = tuple(
        (name, (Value(variant.settings or "nothing set"), _library(variant), _changes_of(variant, reference)))
        for name, variant in _default_first(header.variants).items()
    )
    columns = ("started with", "library", "control variables that it changed in its library")
    return [Table("", "Variant", columns, rows, wraps=True, words=columns)]


def _default_first(variants: Mapping[str, RecordedVariant]) -> dict[str, RecordedVariant]:
    return dict(sorted(variants.items(), key=lambda each: each[0] != DEFAULT))


def _library(variant: RecordedVariant) -> Value:
    kind = variant.mpi.kind
    return Value(f"{LIBRARIES[kind].name if kind in LIBRARIES else kind} {variant.mpi.version}".strip())


def _changes_of(variant: RecordedVariant, reference: RecordedVariant | None) -> Value:
    if reference is None or variant == reference:
        return Value("")
    if variant.changed is None:
        return Value("not compared")
    if not variant.changed:
        return Value("none")
    shown = [
        f"{each.name}: {_short(each.default)} → {_short(each.value)}" for each in variant.changed[:_MAX_CHANGED_ROWS]
    ]
    left = len(variant.changed) - len(shown)
    return Value("; ".join(shown), f"and {left} more, in campaign.json" if left else "")


def _short(value: str) -> str:
    text = value or "(empty)"
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"
