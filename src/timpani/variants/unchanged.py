"""Variants that changed nothing that the library shows: what they gain is most probably chance."""

from collections.abc import Iterator

import polars as pl

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.campaign.folder.load import Campaign
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import DEFAULT
from timpani.study.variant import Variant, parse_variant
from timpani.tuning.decide.decide import compared_with_default


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


def _is_unchanged(recorded: RecordedVariant) -> bool:
    library = LIBRARIES.get(recorded.mpi.kind)
    if recorded.changed is None or recorded.changed or recorded.unchecked or library is None:
        return False
    variant = parse_variant(recorded.settings)
    names = [name for name, _ in (*variant.parameters, *variant.environment)]
    only_settings = variant == Variant(variant.parameters, variant.environment)
    return bool(names) and only_settings and all(library.settings.control(name) for name in names)
