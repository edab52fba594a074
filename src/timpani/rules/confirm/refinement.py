"""The study that refines boundaries: it measures sizes between those at which the choice changes."""

from collections.abc import Iterable
from math import sqrt

from timpani.campaign.folder.load import Campaign
from timpani.rules.confirm.confirmation_study import near_best_algorithms
from timpani.study.defaults import LAUNCHES
from timpani.study.selection import SizeGap
from timpani.study.study import Study

MAX_SIZE_RATIO = 1.26
"""A boundary is not refined further if the sizes on both sides differ by at most this factor, the cube root of 2."""


def refining_study(gaps: Iterable[SizeGap], measured: Campaign) -> Study | None:
    """The study that halves each wide gap on a logarithmic scale; None if no gap is wide, or `measured` is a program's.

    It measures the default and all algorithms that came near the best at one point, under the conditions of `measured`.
    After a race only few algorithms remain, so all of them are measured in a fixed number of launches.
    """
    recorded = measured.header.recorded_study
    if recorded.get("weights"):  # the program's smallest and largest calls were measured, and rules end there
        return None
    sizes: dict[str, set[int]] = {}
    for gap in gaps:
        element = measured.header.study.element_bytes_of(gap.collective)
        between = _middle(gap, element)
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
            "weights": (),
            "title": "Sizes at which the choice changes",
            "collectives": {name: near_best_algorithms(name, measured.results) for name in sizes},
            "overrides": {name: {**(overrides.get(name) or {}), "sizes": sorted(new)} for name, new in sizes.items()},
        },
        "the study that refines boundaries",
    )


def _middle(gap: SizeGap, element: int) -> int | None:
    """The size of whole elements nearest to the middle; None if the gap is narrow or contains no such size."""
    if gap.after <= MAX_SIZE_RATIO * max(1, gap.before):
        return None
    middle = round(sqrt(max(1, gap.before) * gap.after) / element) * element
    return middle if gap.before < middle < gap.after else None
