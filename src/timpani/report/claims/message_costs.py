"""What a message costs in a campaign, by where its two ranks sit, as studies that compare placements call it."""

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import localities_of, locality_of
from timpani.machine.nodes.locality import DIFFERENT_SWITCH, LEVELS, SAME_NODE, SAME_SWITCH
from timpani.report.verdict.message_summary import latency_fits
from timpani.study.schema import schema

_PLACES = {
    **dict.fromkeys((*LEVELS.values(), SAME_NODE), "single_node"),
    SAME_SWITCH: "leaf_nodes",
    DIFFERENT_SWITCH: "random_nodes",
}
"""The studies' names of localities."""


_COLUMNS = {
    **schema("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes"),
    **dict.fromkeys(("time_us", "low_us", "high_us"), pl.Float64()),
}


def message_costs(campaign: Campaign, cells: pl.DataFrame) -> pl.DataFrame:
    """T_s in µs and T_c in µs a byte as the collectives `T_s` and `T_c`, columns as `claim_times` has them.

    `label` says where the two ranks sat; of several pairs that sat so the median counts. There are no intervals.
    """
    localities = localities_of(campaign)
    rows = [
        {
            "collective": cost,
            "label": _PLACES.get(locality_of(fitted.name, localities) or ""),
            "ranks": 2,
            "message_bytes": 0,
            "time_us": value,
            **{name: fitted.name[name] for name in ("placement", "mode", "machine")},
        }
        for fitted in latency_fits(campaign, cells)
        if not fitted.misses  # a poor fit gives no cost
        for cost, value in (("T_s", fitted.hockney.latency.value), ("T_c", fitted.hockney.per_byte.value))
    ]
    key = [name for name in _COLUMNS if not name.endswith("_us")]
    known = pl.DataFrame(rows, schema=_COLUMNS).filter(pl.col("label").is_not_null(), pl.col("time_us") > 0)
    return known.group_by(key).agg(pl.median("time_us"), pl.first("low_us", "high_us")).select(*_COLUMNS)
