"""Agreement of two tables of times: the order of latencies, and the best algorithm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from timpani.report.document.blocks import Block, Content, Sentence, Table, Value, rows
from timpani.study.schema import POINT, without
from timpani.study.words import counted

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


def unpaired(cells: pl.DataFrame, published: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """By who alone has them the cells that `pair_times` leaves out: a row per collective, label and ranks with `sizes`,
    their number."""
    key = ["collective", "label", "ranks", "message_bytes"]
    timed = cells.filter(pl.col("osu_avg_us") > 0)
    alone = {
        "the campaign": timed.join(published, on=key, how="anti"),
        "the published table": published.join(timed, on=key, how="anti"),
    }
    sizes = pl.len().cast(pl.Int64).alias("sizes")
    return {who: rows.group_by(key[:3]).agg(sizes).sort(key[:3]) for who, rows in alone.items()}


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


def agreement_blocks(
    found: Agreement, left_out: Mapping[str, pl.DataFrame], title: str, simulated: bool
) -> Iterator[Block]:
    """A row per algorithm with its rank correlations, how often both have the same best, and what has no partner."""
    if found.over_sizes.is_empty():
        yield Sentence("compared", f"No cell in common with {title}")
    else:
        side = "Simulated" if simulated else "Measured"
        values = {"over_ranks": found.over_ranks.to_dicts(), "over_sizes": found.over_sizes.to_dicts()}
        text = f"{side} OSU averages against published ones: {title}"
        yield Sentence("compared", text, values | {"simulated": simulated})
        yield Table(
            "agreement",
            (
                "algorithm",
                "collective",
                "placement",
                "over ranks",
                "least over ranks",
                "over sizes",
                "least over sizes",
                "cells",
            ),
            rows(_correlation_rows(found)),
            notes=("Spearman's rank correlation: over rank counts at each size, and over sizes at each rank count.",),
        )
        yield from _best(found)
    yield from _left_out(left_out)


def _correlation_rows(found: Agreement) -> Iterator[tuple[Content | Value, ...]]:
    curves = found.over_sizes.group_by("collective", "placement", "label", maintain_order=True)
    for (collective, placement, label), by_ranks in curves:
        by_size = found.over_ranks.filter(collective=collective, placement=placement, label=label)
        summaries = (
            Value(value if isinstance(value, float) else None, show="{:.2f}".format)
            for part in (by_size, by_ranks)
            for value in (part["correlation"].median(), part["correlation"].min())
        )
        yield (str(label), str(collective), str(placement), *summaries, int(by_ranks["points"].sum()))


def _best(found: Agreement) -> Iterator[Block]:
    for (collective, placement), part in found.best.group_by("collective", "placement", maintain_order=True):
        loss = part.select(median=pl.median("regret"), most=pl.max("regret")).row(0, named=True)
        yield Sentence(
            "best",
            f"{collective} by {placement}: the same best algorithm in {part['agrees'].sum():.4g} of {part.height} "
            f"cells; picking what is best here would take {100 * loss['median']:.0f} % longer by the published times "
            f"in the median, {100 * loss['most']:.0f} % at worst",
            {"cells": part.to_dicts()},
        )
    if found.agreeing is not None and found.by_chance is not None and found.constant is not None:
        algorithms, share = found.constant
        yield Sentence(
            "agreeing",
            f"Agreement on the best: {found.agreeing:.0%} of {counted(found.best.height, 'cell')}; always naming "
            f"{' or '.join(algorithms)} agrees at {share:.0%}, by chance {found.by_chance:.0%}.",
            {"agreeing": found.agreeing, "always": algorithms, "always_agreeing": share, "by_chance": found.by_chance},
        )
        if found.ties:
            text = f"The lowest time is shared at {counted(found.ties, 'cell')}; these count by the share that agrees."
            yield Sentence("ties", text, {"ties": found.ties})


def _left_out(left_out: Mapping[str, pl.DataFrame]) -> Iterator[Block]:
    for who, part in left_out.items():
        if part.is_empty():
            continue
        curves = [
            f"{collective} {label} on {', '.join(map(str, sorted(each['ranks'])))} ranks ({each['sizes'].sum()})"
            for (collective, label), each in part.group_by("collective", "label", maintain_order=True)
        ]
        cells = counted(int(part["sizes"].sum()), "cell")
        text = f"Not compared, since only {who} has them: {cells}: {'; '.join(curves)}"
        yield Sentence("not_compared", text, {"only": who, "curves": part.to_dicts()})
