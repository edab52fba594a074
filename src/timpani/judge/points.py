"""The points at which algorithms compete: a collective at one size, rank count, placement, mode and machine."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.judge.equal_schedules import SAME_US
from timpani.stats.compare import STANDARD, Margins, Samples, Stratum, compare_families
from timpani.stats.jobs import JobEvidence
from timpani.stats.states import MIN_PAIRS, without_state_effects
from timpani.study.operations import OPERATIONS
from timpani.study.schema import ALGORITHM, CHANGED, MEASURED_US, POINT, STATE, STATES, algorithm_label, is_default

STRATA = "strata"

JOB_LOGS = ("reference_job_logs", "job_logs")
"""Where the two sides of a comparison have no job in common: lists of the log times of their jobs."""

REFERENCE_COLUMNS = {"times": "reference"} | {
    name: f"reference_{name}" for name in ("turns", "blocks", "jobs", "job", *ALGORITHM)
}
"""Columns of `launch_medians` that a comparison needs, with their names for the reference."""

_SIDES = ("reference", "times")
_TURNS = ("reference_turns", "turns")
_BLOCKS = ("reference_blocks", "blocks")
_VARIANTS = ("reference_variant", "variant")


def _across_jobs() -> pl.Expr:
    """Whether the two sides were not measured in one job alone."""
    one = (pl.max_horizontal("reference_jobs", "jobs") == 1) & pl.col("reference_job").eq_missing(pl.col("job"))
    return ~one


def launch_medians(results: pl.DataFrame) -> pl.DataFrame:
    """A row per point and algorithm with a time, from results of one library (columns RESULT_SCHEMA).

    Columns POINT, ALGORITHM, `label` and
    times      each successful launch's median, µs
    time_us    their median; of several jobs the median of each job's median
    simulated  whether the times are simulated
    order      sort key: the fastest algorithm comes first
    turns      for each launch that interleaved the algorithm with others, a struct of `interleaving`, which these
               share, `relative` and `job`
    blocks     for each launch a struct of `launch` (the block's number), `time` (µs), `state` of the machine and `job`
    jobs       number of jobs with a time; 1 if unknown
    job        one of them; null if unknown
    described  whether the times allow no test: imported averages, which have too few decimals, or `few_imported`
    """
    time, key = MEASURED_US, (*POINT, *ALGORITHM)
    # A time of 0 is under the clock's resolution and has no ratio to anything.
    timed = results.filter(pl.col("error").is_null() & (time > 0))
    by_job = timed.group_by(*key, "job").agg(time.median().alias("time_us")).group_by(key).agg(pl.median("time_us"))
    return (
        timed.group_by(key)
        .agg(
            time.sort_by("launch").alias("times"),
            pl.struct("interleaving", "relative", "job").filter(pl.col("interleaving").is_not_null()).alias("turns"),
            pl.struct("launch", time.alias("time"), _state(results), "job").sort_by("launch").alias("blocks"),
            pl.col("job").n_unique().cast(pl.Int64).alias("jobs"),
            pl.col("job").first(),
            pl.any("simulated"),
            (pl.col("median_us").is_null().any() | few_imported()).alias("described"),
        )
        .join(by_job, on=key)
        .with_columns(algorithm_label(), _speed_order().alias("order"))
        .sort(*POINT, *ALGORITHM)
    )


def _state(results: pl.DataFrame) -> pl.Expr:
    return pl.col(STATE) if STATE in results.columns else pl.lit(None, pl.String).alias(STATE)


def few_imported() -> pl.Expr:
    """Whether they are launches of one known job, measured elsewhere, and too few for an interval of a ratio."""
    job = pl.col("job")
    elsewhere = pl.col("samples").is_null().all() & job.is_not_null().all()
    return elsewhere & (job.n_unique() == 1) & (pl.len() < MIN_PAIRS)


def _speed_order() -> pl.Expr:
    """A sort key by speed for the algorithms of a point.

    If all were interleaved, it is their time relative to the others of the same rounds, which is more precise than the
    time itself. Variants are never interleaved.
    """
    interleaving = (pl.col("turns").list.len() > 0) & (pl.col("variant") == pl.col("variant").first())
    proportion = pl.col("turns").list.eval(pl.element().struct.field("relative").median()).list.first()
    return pl.when(interleaving.all().over(POINT)).then(proportion).otherwise("time_us")


def competing(medians: pl.DataFrame) -> pl.DataFrame:
    """The rows of competing algorithms: collectives and transposes, without the baselines of transposes.

    Messages between other ranks are other operations, not alternatives. Imported rows are kept.
    """
    kept = pl.lit(True)
    for operation in OPERATIONS.values():
        is_it = pl.col("collective") == operation.name
        if not operation.has_competitors:
            kept = kept & ~is_it
        elif operation.baselines:
            kept = kept & ~(is_it & pl.col("algorithm").is_in(sorted(operation.baselines)))
    return medians.filter(kept)


def join_reference(medians: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """The rows of `medians` with the times and the name of the row of `references` at the same point."""
    renamed = references.select(*POINT, *(pl.col(name).alias(column) for name, column in REFERENCE_COLUMNS.items()))
    return medians.join(renamed, on=POINT, maintain_order="left")


def samples_of_row(row: Mapping[str, Any]) -> Samples:
    """The samples to compare in a row: jobs if several measured both; blocks for variants; else launches that
    interleaved both, if at least half did."""
    reference, times = (row[side] for side in _SIDES)
    reference_blocks, blocks = (row[name] for name in _BLOCKS)
    reference_turns, turns = (row[name] for name in _TURNS)
    if row["across_jobs"]:
        by_job = log_ratios_by_job(reference_turns, turns, "interleaving", "relative")
        by_job = by_job if len(by_job) > 1 else log_ratios_by_job(reference_blocks, blocks, "launch", "time")
        if len(by_job) != 1:
            return Samples(((reference, times),), jobs=_evidence(by_job, reference_blocks, blocks))
        reference_blocks, blocks = (
            [each for each in side if each["job"] in by_job] for side in (reference_blocks, blocks)
        )
        reference, times = _times((reference_blocks, blocks))
    reference_variant, variant = (row[name] for name in _VARIANTS)
    if reference_variant != variant:
        return samples_in_blocks(reference_blocks, blocks)
    theirs = {each["interleaving"]: each["relative"] for each in turns}
    ratios = [
        each["relative"] / theirs[each["interleaving"]] for each in reference_turns if each["interleaving"] in theirs
    ]
    enough = 2 * len(ratios) >= max(len(reference), len(times))
    return Samples.from_times(reference, times, ratios if enough else ())


def _evidence(by_job: Mapping[str, float], reference: "Blocks", other: "Blocks") -> JobEvidence:
    """Of the jobs that measured both; without such, of those that measured one."""
    if by_job:
        return JobEvidence.paired(list(by_job.values()))
    logs = [defaultdict[Any, list[float]](list) for _ in range(2)]
    for side, blocks in zip(logs, (reference, other), strict=True):
        for each in blocks:
            side[each["job"]].append(log(each["time"]))
    first, second = (list(map(fmean, side.values())) for side in logs)
    return JobEvidence.apart(first, second)


def compare_at_points(pairs: pl.DataFrame, family: Iterable[str] = POINT, margins: Margins = STANDARD) -> pl.DataFrame:
    """Compare `reference` with `times` (lists of launch medians, µs) in each row.

    Rows that are equal in the columns `family` are corrected together.

    If there is a column STRATA, launches are compared within its strata: a list of structs of `reference` and `times`;
    jobs instead where JOB_LOGS has several of a side.
    Otherwise there are REFERENCE_COLUMNS: interleaved algorithms are compared by their ratio in each launch, and two
    variants by their ratio in each block.

    Adds these columns, by the rule of `stats/compare.py`:
    paired                 number of paired jobs, launches or blocks
    ratio                  reference / times
    ratio_low, ratio_high  its 95 % interval; null if there are too few launches for a bound
    p_value, significant   after correction over the family
    another_low, another_high  95 % interval of the ratio in one more job; null for one job

    Simulated times do not vary, so that each ratio that is not indifferent is significant, without p-value
    and interval. Imported averages have only a ratio.
    """
    families = pairs.select(pl.struct(family).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    if STRATA in pairs.columns:
        sides = pairs.select(STRATA, *JOB_LOGS, several_jobs().alias("several"))
        samples = [
            Samples(
                tuple((each["reference"], each["times"]) for each in row[STRATA]),
                jobs=JobEvidence.apart(*(row[name] for name in JOB_LOGS)) if row["several"] else None,
            )
            for row in sides.iter_rows(named=True)
        ]
    else:
        # Rows of one variant in one job do not need their blocks, which take longest to turn into Python objects.
        needed = (pl.col("reference_variant") != pl.col("variant")) | _across_jobs()
        blocks = (pl.when(needed).then(name).alias(name) for name in _BLOCKS)
        rows = pairs.select(*_SIDES, *_TURNS, *_VARIANTS, *blocks, _across_jobs().alias("across_jobs"))
        samples = [samples_of_row(row) for row in rows.iter_rows(named=True)]
    found = compare_families(samples, families, margins.indifferent)
    return pairs.with_columns(
        paired=pl.Series([_replicates(each) for each in samples], dtype=pl.Int64),
        ratio=pl.Series(found.ratio, dtype=pl.Float64),
        ratio_low=_bounds(found.low),
        ratio_high=_bounds(found.high),
        another_low=_bounds(found.another_low),
        another_high=_bounds(found.another_high),
        p_value=pl.Series(found.p_value, dtype=pl.Float64),
        significant=pl.Series(found.significant, dtype=pl.Boolean),
    ).with_columns(
        pl.when(~pl.col("described")).then("ratio_low").alias("ratio_low"),
        pl.when(~pl.col("described")).then("ratio_high").alias("ratio_high"),
        pl.when(~pl.col("simulated") & ~pl.col("described")).then("p_value").alias("p_value"),
        pl.when("simulated")
        .then(~pl.col("ratio").is_between(*margins.indifferent))
        .otherwise(pl.col("significant") & ~pl.col("described"))
        .alias("significant"),
    )


def _replicates(samples: Samples) -> int:
    return round(1 / samples.jobs.scale) if samples.jobs else len(samples.paired)


def several_jobs() -> pl.Expr:
    """Whether a side of JOB_LOGS has several jobs, so that the variance between jobs is known."""
    first, second = (pl.col(name).list.len() for name in JOB_LOGS)
    return (pl.max_horizontal(first, second) > 1).fill_null(value=False)


def _bounds(values: NDArray[np.float64]) -> pl.Series:
    """The bounds; null for 0 and infinity, which are no bounds."""
    return pl.Series([each if 0 < each < float("inf") else None for each in values.tolist()], dtype=pl.Float64)


def log_ratios_by_job(
    reference: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]], key: str, value: str
) -> dict[str, float]:
    """The log ratio of `value` in each job: the mean over what both measured under one `key`; if there is no such, the
    ratio of the geometric means."""
    sides = [defaultdict[str, dict[Any, float]](dict) for _ in range(2)]
    for side, measured in zip(sides, (reference, other), strict=True):
        for each in measured:
            if each["job"] is not None:
                side[each["job"]][each[key]] = log(each[value])
    first, second = sides
    found = {}
    for job in first.keys() & second.keys():
        both = first[job].keys() & second[job].keys()
        times = ([side[job][name] for name in both or side[job]] for side in sides)
        found[job] = fmean(next(times)) - fmean(next(times))
    return found


Blocks = Sequence[Mapping[str, Any]]
"""For each launch a mapping with `launch`, `time` and `state`."""


def samples_in_blocks(reference: Blocks, other: Blocks) -> Samples:
    """Pair the times of two variants by block: one launch number, which starts every variant once.

    This is a randomized complete block design: the study's seed shuffles the order within a block (Fisher, The Design
    of Experiments, 1935; Montgomery, Design and Analysis of Experiments, ch. 4). If the variants do not differ, the
    random order makes both signs of a log ratio equally likely. So the signed-rank test of `stats/compare.py` is exact.

    Without several states of the machine all blocks are paired. States may last shorter than a block. From blocks with
    the times in different states, the states' effect is removed (`stats/states.py`). If fewer than half of all
    blocks remain, or fewer than MIN_PAIRS, launches are compared within each state, unpaired. If no state has both
    variants, all blocks are paired.
    """
    by_launch = {each["launch"]: each for each in other}
    pairs = [(each, by_launch[each["launch"]]) for each in reference if each["launch"] in by_launch]
    if not pairs:
        return Samples((_times((reference, other)),))
    steady = [pair for pair in pairs if CHANGED not in (pair[0]["state"], pair[1]["state"])]
    values, slopes = without_state_effects(_log_ratios(steady), [(one["state"], two["state"]) for one, two in steady])
    if len(values) < len(pairs) and len(values) < max(MIN_PAIRS, len(pairs) / 2):
        strata = tuple(
            (first, second)
            for state in STATES
            if (first := _in_state(reference, state)) and (second := _in_state(other, state))
        )
        if strata:
            return Samples(tuple(map(_times, strata)))
        values, slopes = _log_ratios(pairs), np.ones(len(pairs))
    return Samples((_times((reference, other)),), np.exp(values).tolist(), slopes.tolist())


def _log_ratios(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> NDArray[np.float64]:
    return np.array([np.log(first["time"] / second["time"]) for first, second in pairs], dtype=np.float64)


def _in_state(blocks: Blocks, state: str) -> Blocks:
    return [each for each in blocks if each["state"] == state]


def _times(sides: tuple[Blocks, Blocks]) -> Stratum:
    first, second = ([each["time"] for each in side] for side in sides)
    return first, second


_ROUNDING = 1e-9
"""Maximum relative difference of equal times."""

_MAX_NAMED = 3


def best_rows(medians: pl.DataFrame, *preferred: str) -> pl.DataFrame:
    """A row per point: the algorithm with the lowest `order`. If several share it, the default, or the first by name.

    Adds `lowest`: the labels of all algorithms with this time, the best first. Simulated times within SAME_US are
    equal.

    medians    columns of `launch_medians`
    preferred  boolean columns that take precedence over the time, the most important first
    """
    ranked = medians.sort(*preferred, "order", descending=[*(True for _ in preferred), False], maintain_order=True)
    first = pl.col("order").first().over(POINT)
    margin = pl.when("simulated").then(SAME_US).otherwise(_ROUNDING * first)
    equal = ranked.filter(
        *(pl.col(name) == pl.col(name).first().over(POINT) for name in preferred), pl.col("order") <= first + margin
    )
    by_name = equal.sort(~is_default(), "label", maintain_order=True)
    labels = pl.col("label").alias("lowest")
    return by_name.group_by(POINT, maintain_order=True).agg(pl.exclude(POINT).first(), labels)


def most_frequent(names: Iterable[Iterable[str]]) -> str:
    """The names that occur in most of the sets, with their number: `ring (5)`, `chain and ring (5 each)`."""
    times = Counter(name for each in names for name in each)
    most = max(times.values())
    found = sorted(name for name, count in times.items() if count == most)
    if len(found) == 1:
        return f"{found[0]} ({most})"
    if len(found) > _MAX_NAMED:
        return f"{', '.join(found[:_MAX_NAMED])} and {len(found) - _MAX_NAMED} more ({most} each)"
    return f"{', '.join(found[:-1])} and {found[-1]} ({most} each)"
