"""How each variant was started and what the library took of it; the setting worth setting for whole programs."""

from collections.abc import Iterator, Mapping
from math import log
from typing import TYPE_CHECKING, Any

import polars as pl

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.campaign.folder.load import Campaign
from timpani.judge.decide import compared_with_default
from timpani.judge.other_points import SettingGains, variant_gains, winner
from timpani.libraries.registry import LIBRARIES
from timpani.report.document.blocks import Table, Value, rows
from timpani.stats.compare import ALPHA
from timpani.study.cell import DEFAULT
from timpani.study.operations import is_sized
from timpani.study.selection import WrittenSetting
from timpani.study.sizes import show_size
from timpani.study.variant import Variant, parse_variant
from timpani.study.words import counted, per_cent

if TYPE_CHECKING:
    from timpani.report.page.contents import Report
    from timpani.report.page.sections import PageSection


def unchanged_variants(header: Header) -> tuple[str, ...]:
    """Names of variants that set control variables of the library alone, and left all of them at their values.

    A variant that sets something else (a variable of UCX, a launcher argument, another library) may act without
    changing a control variable, and is not named.
    """
    variants = header.variants or {}
    return tuple(name for name, recorded in variants.items() if name != DEFAULT and _is_unchanged(recorded))


def unchanged_warnings(campaign: Campaign) -> Iterator[str]:
    """A sentence for each unchanged variant that is significantly faster than the default somewhere."""
    unchanged = unchanged_variants(campaign.header)
    if not unchanged:
        return
    faster = compared_with_default(campaign).filter(pl.col("significant"), pl.col("ratio") > 1)
    found = set(faster["variant"])
    yield from (
        f"variant {name} changed no control variable of the library, so that a gain by this setting is most probably "
        "a false alarm; `timpani tune` does not write it"
        for name in unchanged
        if name in found
    )


def verdict_lines(campaign: Campaign) -> Iterator[str]:
    """A line for each variant with the library's choice of algorithm, at the point where it differs most."""
    compared = compared_with_default(campaign).filter(pl.col("algorithm") == DEFAULT, pl.col("ratio").is_not_null())
    for name in campaign.header.variants or {}:
        if name == DEFAULT:
            continue
        points = compared.filter(pl.col("variant") == name).rows(named=True)
        differing = [each for each in points if each["significant"]]
        if not points:
            yield f"Variant {name}: not compared yet."
        elif not differing:
            yield f"Variant {name}: no significant difference at {counted(len(points), 'point')}."
        else:
            most = max(differing, key=lambda each: abs(log(each["ratio"])))
            yield (
                f"Variant {name}: {_times(most)}; significantly different at {len(differing)} of "
                f"{counted(len(points), 'point')}."
            )


def _times(row: Mapping[str, Any]) -> str:
    """How many times as long or as fast as the default a variant is at one point, with the interval."""
    faster = row["ratio"] > 1
    ratio, *bounds = (row["ratio"], row["ratio_low"], row["ratio_high"])
    if not faster:
        ratio, *bounds = (each and 1 / each for each in (ratio, *reversed(bounds)))
    interval = "" if None in bounds else f" ({per_cent(1 - ALPHA)} interval {bounds[0]:.2f} to {bounds[1]:.2f})"
    size = f" at {show_size(row['message_bytes'])}" if is_sized(row["collective"]) else ""
    return f"{ratio:.2f} times as {'fast' if faster else 'long'} as the default for {row['collective']}{size}{interval}"


def _is_unchanged(recorded: RecordedVariant) -> bool:
    library = LIBRARIES.get(recorded.mpi.kind)
    if recorded.changed is None or recorded.changed or recorded.unchecked or library is None:
        return False
    variant = parse_variant(recorded.settings)
    names = [name for name, _ in (*variant.parameters, *variant.environment)]
    only_settings = variant == Variant(variant.parameters, variant.environment)
    return bool(names) and only_settings and all(library.settings.control(name) for name in names)


def setting_of(campaign: Campaign) -> tuple[WrittenSetting | None, tuple[str, ...]]:
    """The winning setting (None: none wins), and a sentence for each variant that is faster somewhere and not written.

    Files can say parameters and variables only: a variant with another library, a script, a module, a preloaded
    library or words of the launcher is not written. Neither is a variant that changed nothing in the library.
    """
    variants = campaign.header.variants or {}
    if not variants:
        return None, ()
    known = [each for each in variant_gains(compared_with_default(campaign)) if each.name in variants]
    settings = {each.name: parse_variant(variants[each.name].settings) for each in known}
    unchanged = unchanged_variants(campaign.header)
    best = winner(each for each in known if each.name not in unchanged and _is_writable(settings[each.name]))
    others = [each for each in known if each != best and each.faster]
    left_out = tuple(_why_not(each, settings[each.name], best, each.name in unchanged) for each in others)
    if best is None:
        return None, left_out
    text = variants[best.name].settings
    return WrittenSetting(best.name, text, best.points, best.faster, round(best.gain, 4)), left_out


def _is_writable(variant: Variant) -> bool:
    return variant == Variant(variant.parameters, variant.environment)


def _why_not(gains: SettingGains, variant: Variant, best: SettingGains | None, unchanged: bool) -> str:
    where = f"setting {gains.name} ({variant}) is faster at {gains.faster} of {counted(gains.points, 'point')}"
    if unchanged:
        return f"{where}: it is not written, since it changed no control variable of the library"
    if gains.slower:
        return f"{where} and slower at {gains.slower}: it is not written, since it would hold for whole programs"
    if not _is_writable(variant):
        return f"{where}: it is not written, since files hold parameters and variables only"
    return f"{where}: {best.name if best else 'another'} gains more on average"


_MAX_CHANGED_ROWS = 8
"""Control variables of a variant that are shown; campaign.json holds all."""

_MAX_VALUE_CHARACTERS = 60  # characters


_ABOUT = (
    "Each variant was started once before the first launch. The table lists the library’s control variables with a "
    "value other than in the variant “default”, and the component of the library that runs each collective, if it has "
    "components."
)


def variant_section(report: "Report") -> "PageSection":
    """The section of a report that says what each variant changed."""
    # Figures take longer to load than a verdict, which asks this file too.
    from timpani.report.page.sections import PageSection

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
