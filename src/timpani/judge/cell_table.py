"""One row per cell: what a campaign's launches say together. docs/reference.md describes the columns.

Of curves of time against size: where the flat part ends, and which algorithm is most similar to the default.
"""

from collections.abc import Iterator
from dataclasses import astuple
from functools import partial

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import with_bounds
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_columns import FURTHER, STABLE, SUMMARIES
from timpani.judge.points import few_imported
from timpani.judge.raced import RacedResults, ended_cells, raced_results
from timpani.stats.compare import launches_needed
from timpani.stats.sample import median_ranks
from timpani.study.operations import OPERATIONS
from timpani.study.schema import (
    ALGORITHM,
    MACHINE_CELL,
    MEASURED_US,
    POINT,
    STATE,
    STATES,
    SWEEP,
    algorithm_label,
    is_default,
    without,
)

CONTRACT = tuple(column.name for column in STABLE)
"""The columns that users' scripts rely on, in this order."""

EXTRAS = tuple(column.name for column in FURTHER)

_SUMMARIES = {"mean": pl.mean, "median": pl.median, "sum": pl.sum, "most": lambda name: pl.mean(name) > 0.5}

WIDEST = 0.25
"""Half the width of an interval over launches, over the median, beyond which the cell is `wide`."""

_NONE_NEEDED = pl.lit(None, dtype=pl.Int64).alias("launches_needed")
_SUCCEEDED = pl.col("error").is_null() & MEASURED_US.is_not_null()


def estimate_cells(results: RacedResults) -> pl.DataFrame:
    """Estimate every cell of `results` (a row per cell and launch).

    Returns a row per cell, columns CONTRACT then EXTRAS, curve by curve with ascending sizes, the default first. The
    estimate is the median of the launches' medians; its interval over launches covers 95 % or, of fewer than six, the
    `ci_coverage` that they reach; `osu_avg_us` is their mean. Where several jobs measured the cell, both are over the
    jobs' medians instead. One launch has no interval, nor have simulated times.
    `launches_needed` is how many a comparison at the cell's point takes; null where more would add nothing, as of
    simulated times and imported ones, of several jobs, and of a race, which decides when to end. `dropped` says
    after which launch a race measured the cell no more, and why, `race_ended` why it ended the point with this cell
    left, `sampled` whether it only sampled the point; null elsewhere.
    Launches that failed give no time. Flags of single launches
    (not converged, skewed, bimodal) hold for the cell when most launches that succeeded raised them, and lateness
    missed when one did.
    """
    succeeded = results.rows.filter(_SUCCEEDED)
    measured = succeeded.group_by(MACHINE_CELL).agg(
        pl.col("median_us").drop_nulls().sort().alias("medians"),
        pl.len().cast(pl.Int64).alias("launches"),
        pl.col("interleaving").is_not_null().any().alias("interleaving"),
        few_imported().alias("few_imported"),
        *(_SUMMARIES[summary.over](name) for name, summary in SUMMARIES.items()),
        skewed=pl.mean("skewed") > 0.5,
        lateness_missed=pl.any("lateness_missed"),
        unconverged=(~pl.col("converged")).mean() > 0.5,
    )
    attempted = results.rows.group_by(MACHINE_CELL).agg(
        (~_SUCCEEDED).any().alias("failed"),
        pl.any("oversubscribed", "simulated"),
        pl.col("error").sort_by("launch").drop_nulls().first(),
    )
    measured = measured.join(_of_jobs(succeeded), on=MACHINE_CELL).with_columns(
        pl.when(pl.col("jobs") > 1).then("of_jobs").otherwise("medians").alias("medians")
    )
    cells = attempted.join(measured, on=MACHINE_CELL, how="left").with_columns(
        pl.col("launches", "jobs").fill_null(0),
        *(
            pl.col(name).fill_null(0 if summary.over == "sum" else False)
            for name, summary in SUMMARIES.items()
            if summary.over in ("sum", "most")
        ),
    )
    return (
        _with_interval(cells)
        .join(ended_cells(results), on=MACHINE_CELL, how="left", maintain_order="left")
        .with_columns(_launches_needed() if results.race is None else _NONE_NEEDED)
        .with_columns(_status(), algorithm_label(), *_throughput())
        .sort(*SWEEP, ~is_default(), *ALGORITHM, "message_bytes")
        .select(*CONTRACT, *EXTRAS)
    )


def _of_jobs(succeeded: pl.DataFrame) -> pl.DataFrame:
    """MACHINE_CELL, its number of `jobs`, and each job's median, ascending; an unknown job counts."""
    of_one = succeeded.group_by(*MACHINE_CELL, "job").agg(pl.median("median_us"))
    return of_one.group_by(MACHINE_CELL).agg(
        pl.col("median_us").drop_nulls().sort().alias("of_jobs"), pl.len().cast(pl.Int64).alias("jobs")
    )


def state_medians(results: pl.DataFrame) -> pl.DataFrame:
    """MACHINE_CELL, STATE and `median_us` of the launches in each state of the machine; CHANGED is no state."""
    return (
        results.filter(_SUCCEEDED, pl.col("median_us").is_not_null(), pl.col(STATE).is_in(STATES))
        .group_by(*MACHINE_CELL, STATE)
        .agg(pl.median("median_us"))
    )


def _with_interval(cells: pl.DataFrame) -> pl.DataFrame:
    """Add the estimate, its interval, what that covers, and the relative median absolute deviation over launches."""
    medians = pl.col("medians")
    counts = cells["medians"].list.len().unique().drop_nulls()
    bounds = pl.DataFrame(
        # One launch bounds nothing; imports from OSU have no median.
        [(n, *astuple(median_ranks(n))) for n in counts if n > 1],
        schema={"medians_count": pl.UInt32, "low": pl.Int64, "high": pl.Int64, "ci_coverage": pl.Float64},
        orient="row",
    )
    deviations = medians.list.eval((pl.element() - pl.element().median()).abs())
    return (
        cells.with_columns(medians.list.len().alias("medians_count"))
        .join(bounds, on="medians_count", how="left")
        .with_columns(
            medians.list.median().alias("median_us"),
            *(
                pl.when(~pl.col("simulated")).then(medians.list.get(pl.col(rank), null_on_oob=True)).alias(bound)
                for rank, bound in (("low", "ci_low_us"), ("high", "ci_high_us"))
            ),
            pl.when(~pl.col("simulated")).then("ci_coverage").alias("ci_coverage"),
            pl.when(medians.list.median() > 0)
            .then(deviations.list.median() / medians.list.median())
            .alias("relative_mad"),
        )
    )


def _launches_needed() -> pl.Expr:
    """By the number of other algorithms at the cell's point, where algorithms compete, and how they are compared."""
    competing = [name for name, operation in OPERATIONS.items() if operation.has_competitors]
    others = pl.when(pl.col("collective").is_in(competing)).then(pl.len().over(POINT) - 1).otherwise(0)
    replicated = (
        pl.col("median_us").is_not_null() & ~pl.col("simulated") & (pl.col("jobs") < 2) & ~pl.col("few_imported")
    )
    paired, unpaired = (
        others.map_batches(partial(_launches_for, interleaving=interleaving), return_dtype=pl.Int64)
        for interleaving in (True, False)
    )
    by_pairs = pl.col("interleaving") | (pl.col("variant").n_unique().over(POINT) > 1)
    return pl.when(replicated & by_pairs).then(paired).when(replicated).then(unpaired).alias("launches_needed")


def _launches_for(competitors: pl.Series, interleaving: bool) -> pl.Series:
    counts = competitors.unique()
    needed = [launches_needed(count, interleaving) for count in counts]
    found = competitors.replace_strict(counts, needed, return_dtype=pl.Int64)
    return found.cast(pl.Int64)  # in polars 1.40 an empty series keeps its type


def _status() -> pl.Expr:
    averaged = pl.col("median_us").is_null()
    some = (pl.col("launches") > 0) & ~averaged
    words = {
        "not_converged": some
        & ~pl.col("simulated")
        & pl.col("dropped").is_null()
        & ~pl.col("sampled").fill_null(value=False)
        & ((pl.col("launches") < pl.col("launches_needed")) | pl.col("unconverged")),
        "average_only": averaged & (pl.col("launches") > 0),
        "dropped": pl.col("dropped").is_not_null(),
        "sampled": pl.col("sampled"),
        "wide": (pl.col("ci_high_us") - pl.col("ci_low_us")) / 2 > WIDEST * pl.col("median_us"),
        "skewed": pl.col("skewed"),
        "lateness_missed": pl.col("lateness_missed"),
        "oversubscribed": pl.col("oversubscribed"),
        "failed": pl.col("failed"),
        "simulated": pl.col("simulated"),
    }
    joined = pl.concat_str(
        [pl.when(condition).then(pl.lit(word)) for word, condition in words.items()], separator="+", ignore_nulls=True
    )
    return pl.when(joined == "").then(pl.lit("ok")).otherwise(joined).alias("status")


def _throughput() -> Iterator[pl.Expr]:
    """Bytes per µs, which is 10⁶ B/s, of operations that move their size; the interval's ends change places."""
    moving = [name for name, operation in OPERATIONS.items() if operation.moves_its_size]
    times = {"": MEASURED_US, "_low": pl.col("ci_high_us"), "_high": pl.col("ci_low_us")}
    for end, time in times.items():
        moved = pl.col("collective").is_in(moving) & (time > 0)
        yield pl.when(moved).then(pl.col("message_bytes") / time).alias(f"throughput{end}_mb_per_s")


def cells_in_context(campaign: Campaign) -> pl.DataFrame:
    """One row per cell, estimated over its launches, with its locality and the bound of its links."""
    return with_bounds(with_locality(estimate_cells(raced_results(campaign)), campaign), campaign)


KNEE_FACTOR = 1.5
"""A size is beyond the flat part if the lower bound of its time exceeds this multiple of the flat time."""

FLAT_SIZES = 3
"""Number of smallest sizes of a curve whose median time is the flat time. A curve needs more sizes than these."""

_CURVE = ("collective", "label", *without(SWEEP, "collective"))


def knees(cells: pl.DataFrame) -> pl.DataFrame:
    """The first size of each curve from which all lower bounds exceed KNEE_FACTOR × the flat time.

    `cells` has the columns of `estimate_cells`. A time without an interval (simulated, a single launch, an average) is
    its own bound. Returns `collective, label, ranks, placement, mode, machine` and
    knee_bytes  null if the curve stays flat or has too few sizes
    flat_us     median over the FLAT_SIZES smallest sizes
    sizes       number of sizes
    """
    time = MEASURED_US
    lower_bound = pl.coalesce("ci_low_us", time)
    flat_time = time.head(FLAT_SIZES).median()
    above = lower_bound > KNEE_FACTOR * flat_time
    stays_above = above.cast(pl.Int8).reverse().cum_min().reverse() == 1
    return (
        cells.filter(time.is_not_null())
        .sort("message_bytes")
        .group_by(_CURVE)
        .agg(
            knee_bytes=pl.when(pl.len() > FLAT_SIZES).then(pl.col("message_bytes").filter(stays_above).first()),
            flat_us=flat_time,
            sizes=pl.len().cast(pl.Int64),
        )
        .sort(_CURVE)
    )


def distances_from_default(cells: pl.DataFrame) -> pl.DataFrame:
    """Distance of each algorithm from the default: the mean over sizes of |ln(algorithm's time / default's time)|.

    `cells` has the columns of `estimate_cells`. Returns `collective, ranks, placement, mode, machine, label, distance,
    sizes` (number of sizes that both have), the most similar first. A distance of 0.05 means that times differ by 5 %
    on average.
    """
    timed = cells.with_columns(MEASURED_US.alias("time_us")).filter(pl.col("time_us") > 0)
    of_default = is_default()
    defaults = timed.filter(of_default).select(*POINT, pl.col("time_us").alias("default_us"))
    return (
        timed.filter(~of_default)
        .join(defaults, on=POINT)
        .group_by(*SWEEP, "label")
        .agg(
            (pl.col("time_us") / pl.col("default_us")).log().abs().mean().alias("distance"),
            pl.len().cast(pl.Int64).alias("sizes"),
        )
        .sort(*SWEEP, "distance", "label")
    )
