"""Do two tables of times agree: does latency order the same way, and is the same algorithm the best?"""

from dataclasses import dataclass

import polars as pl

from timpani.study.schema import POINT, without

_PLACE = without(POINT, "mode", "arrival", "machine")
_FEWEST = 3  # two points always rise or fall together

_EQUAL = 1e-9
"""Relative difference up to which two times are a tie: rounding of sums."""


@dataclass(frozen=True)
class Agreement:
    """How far our times and published ones agree, on the cells that both have.

    over_ranks  a row per collective, algorithm, placement and message_bytes: Spearman's `correlation` over rank counts
    over_sizes  a row per collective, algorithm, placement and ranks: the same over sizes
                Both with `points`, how many were compared; null where those are under three or all times are equal
    best        a row per place where both have the same two or more algorithms. `here` and `published`: the labels of
                the lowest times, of which there are several where times are equal. `agrees`: the share of `here` that
                is in `published`. `loss`: the published time of `here` over the lowest, less 1, the mean over `here`
    """

    over_ranks: pl.DataFrame
    over_sizes: pl.DataFrame
    best: pl.DataFrame

    @property
    def agreeing(self) -> float | None:
        """The share of places with the same best algorithm, a tie counted by its share; None without a place."""
        share = self.best["agrees"].mean()
        return share if isinstance(share, float) else None

    @property
    def by_chance(self) -> float | None:
        """The share that would agree if each place's best were drawn from its algorithms."""
        share = (self.best["published"].list.len() / self.best["algorithms"]).mean()
        return share if isinstance(share, float) else None

    @property
    def constant(self) -> tuple[list[str], float] | None:
        """The algorithm that is best by the published times at most places, of ties all, and at what share; None
        without a place.

        A prediction is worth nothing unless it agrees more often than this one answer for all places.
        """
        named = self.best.explode("published").group_by("published").len()
        if named.is_empty():
            return None
        most = named.filter(pl.col("len") == pl.col("len").max()).sort("published")
        return most["published"].to_list(), most["len"][0] / self.best.height

    @property
    def ties(self) -> int:
        """The places where several algorithms share the lowest time, here or in the published table."""
        return self.best.filter((pl.col("here").list.len() > 1) | (pl.col("published").list.len() > 1)).height

    @property
    def agreeing_without_tie(self) -> int:
        """The places with one best algorithm on each side, the same."""
        alone = (pl.col("here").list.len() == 1) & (pl.col("published").list.len() == 1)
        return self.best.filter(alone & (pl.col("agrees") == 1)).height


def pair_times(cells: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The cells that both have, with `time_us` and `published_us`: OSU averages both.

    `cells` is what `estimate_cells` returns; `published` has collective, label, ranks, message_bytes and published_us.
    """
    return (
        cells.filter(pl.col("osu_avg_us") > 0)
        .select(*_PLACE, "label", pl.col("osu_avg_us").alias("time_us"))
        .join(published, on=["collective", "label", "ranks", "message_bytes"], maintain_order="left")
    )


@dataclass(frozen=True)
class Unpaired:
    """What `pair_times` leaves out, a row per collective, label and ranks with `sizes`, how many: cells that only the
    campaign has, and times that only the published table has."""

    campaign_only: pl.DataFrame
    published_only: pl.DataFrame


def unpaired(cells: pl.DataFrame, published: pl.DataFrame) -> Unpaired:
    """What has no partner on the other side; arguments as `pair_times` takes them."""
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
    is_best_here = pl.col("time_us") <= lowest_here * (1 + _EQUAL)
    is_best = pl.col("published_us") <= lowest * (1 + _EQUAL)
    best = (
        pairs.with_columns(here=is_best_here, published=is_best, loss=pl.col("published_us") / lowest - 1)
        .sort(*_PLACE, "label")
        .group_by(_PLACE, maintain_order=True)
        .agg(
            pl.col("label").filter("here").alias("here"),
            pl.col("label").filter("published").alias("published"),
            pl.col("published").filter("here").mean().alias("agrees"),
            pl.col("loss").filter("here").mean().alias("loss"),
            pl.len().alias("algorithms"),
        )
        .filter(pl.col("algorithms") > 1)
    )
    return Agreement(_correlations(pairs, "message_bytes"), _correlations(pairs, "ranks"), best)


def _correlations(pairs: pl.DataFrame, fixed: str) -> pl.DataFrame:
    """Spearman's correlation of each algorithm's times at one value of `fixed`, ties sharing their mean rank."""
    curve = ("collective", "placement", "label", fixed)
    return (
        pairs.group_by(curve)
        .agg(
            pl.len().cast(pl.Int64).alias("points"),
            pl.corr("time_us", "published_us", method="spearman").fill_nan(None).alias("correlation"),
        )
        .with_columns(pl.when(pl.col("points") >= _FEWEST).then("correlation").alias("correlation"))
        .sort(curve)
    )
