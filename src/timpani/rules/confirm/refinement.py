"""Sizes between those measured, where the choice changes: measured too, so that boundaries aren't guessed."""

from collections.abc import Iterable
from math import sqrt

from timpani.campaign.folder.load import Campaign
from timpani.rules.confirm.confirmation_study import algorithms_near
from timpani.study.defaults import LAUNCHES
from timpani.study.study import Study
from timpani.tuning.decide.selection_table import SizeGap

CLOSE_ENOUGH = 1.26
"""Sizes whose ratio is at most this are near enough: a third of the way from one power of two to the next."""


def refining_study(gaps: Iterable[SizeGap], measured: Campaign) -> Study | None:
    """The study that halves (geometrically) each gap that is wide; None where none is.

    It takes the default and all algorithms that came near the best somewhere, and is otherwise as `measured`; after a
    race, which left few, all of them are measured in a fixed number of launches.
    """
    recorded = measured.header.recorded["study"]
    sizes: dict[str, set[int]] = {}
    for gap in gaps:
        element = measured.header.study.element_bytes_of(gap.collective)
        between = _between(gap, element)
        if between is not None:
            sizes.setdefault(gap.collective, set()).add(between)
    if not sizes:
        return None
    overrides = recorded.get("overrides") or {}
    return Study.check(
        {
            **recorded,
            **({} if recorded.get("regret") is None else {"regret": None, "launches": LAUNCHES}),
            "budget": None,
            "title": "Sizes at which the choice changes",
            "collectives": {name: algorithms_near(name, measured.results) for name in sizes},
            "overrides": {name: {**(overrides.get(name) or {}), "sizes": sorted(of)} for name, of in sizes.items()},
        },
        "the study of sizes between",
    )


def _between(gap: SizeGap, element: int) -> int | None:
    """The size of whole elements nearest to the middle; None where the gap is narrow, or holds none."""
    if gap.after <= CLOSE_ENOUGH * max(1, gap.before):
        return None
    middle = round(sqrt(max(1, gap.before) * gap.after) / element) * element
    return middle if gap.before < middle < gap.after else None
