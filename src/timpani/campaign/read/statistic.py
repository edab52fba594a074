"""Which time of a call a reader wants to see: its completion, or what OSU's benchmarks print."""

from dataclasses import replace

import polars as pl

from timpani.campaign.folder.load import Campaign, Statistic


def by_statistic(campaign: Campaign, statistic: Statistic) -> Campaign:
    """The campaign with that statistic of each launch in the place of `median_us`, so that all that is computed from
    it, with intervals and comparisons, is of this statistic.

    Results that have an average only, as imported ones have, stay as they are.
    """
    if statistic == "completion":
        return campaign
    measured = pl.col("median_us").is_not_null()
    inside = (pl.when(~measured).then(bound).alias(bound) for bound in ("ci_low_us", "ci_high_us"))
    results = campaign.results.with_columns(*inside, median_us=pl.when(measured).then("osu_avg_us"))
    return replace(campaign, results=results, statistic=statistic)
