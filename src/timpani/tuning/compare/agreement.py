"""Agreement of two tables of times: the order of latencies, and the best algorithm."""

from dataclasses import dataclass

import polars as pl

from timpani.study.schema import POINT, without

_PLACE = without(POINT, "mode", "arrival", "machine")
_MIN_POINTS = 3  # two points always rise or fall together

_ROUNDING = 1e-9
"""Maximum relative difference of tied times: rounding of sums."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of a campaign's times with published ones, on the cells that both have.

    over_ranks  a row per collective, algorithm, placement and message_bytes: Spearman's `correlation` over rank counts
    over_sizes  a row per collective, algorithm, placement and ranks: the same over sizes
                Both have `points`, the number of compared points; null with fewer than three points or equal times
    best        a row per place where both have the same two or more algorithms. `here` and `published`: the labels of
                the lowest times, several if times are equal. `agrees`: the share of `here` that is in `published`.
                `regret`: the published time of `here` over the lowest, less 1, mean over `here`
    """

    over_ranks: pl.DataFrame
    over_sizes: pl.DataFrame
    best: pl.DataFrame

    @property
    def agreeing(self) -> float | None:
        """The share of places with the same best algorithm, ties counted by their share; None without a place."""
        share = self.best["agrees"].mean()
        return share if isinstance(share, float) else None

    @property
    def by_chance(self) -> float | None:
        """The share of places that would agree if the best were drawn at random from the algorithms of each place."""
        share = (self.best["published"].list.len() / self.best["algorithms"]).mean()
        return share if isinstance(share, float) else None

    @property
    def constant(self) -> tuple[list[str], float] | None:
        """The algorithm that is best most often by the published times, with its share of places; None without a place.

        If several algorithms are best equally often, all are named. A prediction is worth nothing unless it agrees more
        often than this one answer for all places.
        """
        named = self.best.explode("published").group_by("published").len()
        if named.is_empty():
            return None
        most = named.filter(pl.col("len") == pl.col("len").max()).sort("published")
        return most["published"].to_list(), most["len"][0] / self.best.height

    @property
    def ties(self) -> int:
        """Number of places where several algorithms share the lowest time, here or in the published table."""
        return self.best.filter((pl.col("here").list.len() > 1) | (pl.col("published").list.len() > 1)).height

    @property
    def agreeing_without_tie(self) -> int:
        """Number of places with a single best algorithm on each side, the same on both."""
        alone = (pl.col("here").list.len() == 1) & (pl.col("published").list.len() == 1)
        return self.best.filter(alone & (pl.col("agrees") == 1)).height


def pair_times(cells: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The cells that both have, with `time_us` and `published_us`: both are averages of OSU.

    cells      columns of `estimate_cells`
    published  columns collective, label, ranks, message_bytes and published_us
    """
    return (
        cells.filter(pl.col("osu_avg_us") > 0)
        .select(*_PLACE, "label", pl.col("osu_avg_us").alias("time_us"))
        .join(published, on=["collective", "label", "ranks", "message_bytes"], maintain_order="left")
    )


@dataclass(frozen=True)
class Unpaired:
    """The cells that `pair_times` leaves out, a row per collective, label and ranks with `sizes`, their number.

    campaign_only   cells that only the campaign has
    published_only  times that only the published table has
    """

    campaign_only: pl.DataFrame
    published_only: pl.DataFrame


def unpaired(cells: pl.DataFrame, published: pl.DataFrame) -> Unpaired:
    """The cells without a partner on the other side; arguments as of `pair_times`."""
    key = ["collective", "label", "ranks", "message_bytes"]
    timed = cells.filter(pl.col("osu_avg_us") > 0)

    def by_curve(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.group_by(key[:3]).agg(pl.len().cast(pl.Int64).alias("sizes")).sort(key[:3])

    return Unpaired(
        by_curve(timed.join(published, on=key, how="anti")), by_curve(published.join(timed, on=key, how="anti"))
    )


def agreement(pairs: pl.DataFrame) -> Agreement:
    """Compare the pairs of `pair_times`."""
    lowest_here, lowest = (pl.col(name).min().over(_PLACE) for name in ("time_us", "published_us"))
    is_best_here = pl.col("time_us") <= lowest_here * (1 + _ROUNDING)
    is_best = pl.col("published_us") <= lowest * (1 + _ROUNDING)
    best = (
        pairs.with_columns(here=is_best_here, published=is_best, regret=pl.col("published_us") / lowest - 1)
        .sort(*_PLACE, "label")
        .group_by(_PLACE, maintain_order=True)
        .agg(
            pl.col("label").filter("here").alias("here"),
            pl.col("label").filter("published").alias("published"),
            pl.col("published").filter("here").mean().alias("agrees"),
            pl.col("regret").filter("here").mean().alias("regret"),
            pl.len().alias("algorithms"),
        )
        .filter(pl.col("algorithms") > 1)
    )
    return Agreement(_correlations(pairs, "message_bytes"), _correlations(pairs, "ranks"), best)


def _correlations(pairs: pl.DataFrame, fixed: str) -> pl.DataFrame:
    """Spearman's correlation of each algorithm's times at one value of `fixed`; ties share their mean rank."""
    curve = ("collective", "placement", "label", fixed)
    return (
        pairs.group_by(curve)
        .agg(
            pl.len().cast(pl.Int64).alias("points"),
            pl.corr("time_us", "published_us", method="spearman").fill_nan(None).alias("correlation"),
        )
        .with_columns(pl.when(pl.col("points") >= _MIN_POINTS).then("correlation").alias("correlation"))
        .sort(curve)
    )
