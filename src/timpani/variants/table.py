"""The table of variants: how each was started, and what the library took of it."""

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.libraries.registry import LIBRARIES
from timpani.report.document.table import Table, Value, rows
from timpani.report.page.contents import Report
from timpani.report.page.sections import PageSection
from timpani.study.cell import DEFAULT

_MAX_CHANGED_ROWS = 8
"""Control variables of a variant that are shown; campaign.json holds all."""

_MAX_VALUE_CHARACTERS = 60  # characters


_ABOUT = (
    "Each variant was started once before the first launch. The table lists the library’s control variables with a "
    "value other than in the variant “default”, and the component of the library that runs each collective, if it has "
    "components."
)


def variant_section(report: Report) -> PageSection:
    """The section of a report that says what each variant changed."""
    return PageSection(
        "settings", "What each variant changed", 4, (_ABOUT,), tables={"": variant_tables(report.campaign.header)}
    )


def variant_tables(header: Header) -> list[Table]:
    """One table with a row for each variant; none for a campaign without variants."""
    if not header.variants:
        return []
    columns = ["Variant", "started with", "library", "control variables that it changed in its library"]
    found = [
        [
            Value(name),
            Value(variant.settings or "nothing set"),
            _library(variant),
            Value("") if name == DEFAULT else _changes_of(variant),
        ]
        for name, variant in sorted(header.variants.items(), key=lambda each: each[0] != DEFAULT)
    ]
    if any(variant.components for variant in header.variants.values()):
        columns.append("component that runs each collective")
        for row in found:
            row.append(Value(_components_of(header.variants[row[0].text]) or "not shown by the library"))
    return [Table("variants", tuple(columns), rows(found), wraps=True)]


def _components_of(variant: RecordedVariant) -> str:
    """The component that runs all measured collectives, or each with its component."""
    if len(found := set(variant.components.values())) == 1:
        return found.pop()
    return ", ".join(f"{collective}: {component}" for collective, component in variant.components.items())


def _library(variant: RecordedVariant) -> Value:
    kind = variant.mpi.kind
    return Value(f"{LIBRARIES[kind].name if kind in LIBRARIES else kind} {variant.mpi.version}".strip())


def _changes_of(variant: RecordedVariant) -> Value:
    details = []
    if variant.changed is None:
        text = "not compared"
    else:
        shown = variant.changed[:_MAX_CHANGED_ROWS]
        text = "; ".join(f"{each.name}: {_short(each.default)} → {_short(each.value)}" for each in shown) or "none"
        if left := len(variant.changed) - len(shown):
            details.append(f"and {left} more, in campaign.json")
    if variant.unchecked:
        details.append(f"not checked, as the library does not show it: {', '.join(variant.unchecked)}")
    return Value(text, detail="; ".join(details))


def _short(value: str) -> str:
    text = value or "(empty)"
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"
