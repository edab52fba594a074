"""The verdict at each point, and in each state of the machine: where these differ they are two verdicts."""

from typing import Any

import polars as pl

from timpani.study.schema import ALGORITHM, POINT, STATE, STATES
from timpani.tuning.decide.decide import SLOWER, UNDECIDED, WITHIN, decide
from timpani.tuning.decide.points import launch_medians
from timpani.tuning.race.results import given_up_by_race, race_of

_TOLD = ("standing", "best_label", "tied", "gain", "gain_low", "gain_high")


def decide_by_state(results: pl.DataFrame) -> pl.DataFrame:
    """The columns of `decide` but `shown_slower`, from all launches together, and:

    by_state       of a point that was measured in several states a struct for each, nearest first: `state`, and of its
                   launches alone standing, best_label, tied, gain, gain_low and gain_high, as `decide` has them
    states_differ  two states are both shown to be something (not UNDECIDED), and not the same: the default is within
                   5 % in one and slower in another, or slower in both, than algorithms of which the best of one is
                   significantly slower in the other. `standing` is SLOWER then

    Of a race each state's launches are judged as a race of their own, at the same error probability. What was dropped
    before a state came is not compared there: it shows no difference, and no default to be within 5 % of the best.
    """
    decisions = decide(results).drop("shown_slower")
    # That something failed is told by no state.
    lasting = results.join(given_up_by_race(race_of(results)), on=[*POINT, *ALGORITHM], how="anti")
    told = [
        _of_state(lasting, state)
        .filter(pl.col("verdict").is_not_null())
        .select(*POINT, pl.struct(pl.lit(state).alias("state"), *_TOLD).alias("by_state"), "shown_slower")
        for state in STATES
        if (results[STATE] == state).any()
    ]
    if len(told) < 2:
        empty = pl.Series("by_state", [None] * decisions.height, dtype=pl.List(_struct(decisions)))
        return decisions.with_columns(empty, pl.lit(False).alias("states_differ"))
    by_state = (
        pl.concat(told)
        .group_by(POINT, maintain_order=True)
        .agg("by_state", "shown_slower")
        .filter(pl.col("by_state").list.len() > 1)
    )
    joined = decisions.join(by_state, on=POINT, how="left", maintain_order="left")
    differ = pl.Series(
        "states_differ",
        [_differ(states or [], slower or []) for states, slower in joined.select("by_state", "shown_slower").rows()],
        dtype=pl.Boolean,
    )
    return (
        joined.drop("shown_slower")
        .with_columns(differ)
        .with_columns(
            pl.when("states_differ").then(pl.lit(SLOWER)).otherwise("standing").alias("standing"),
            pl.when(~pl.col("states_differ")).then("launches_to_decide").alias("launches_to_decide"),
        )
    )


def _of_state(results: pl.DataFrame, state: str) -> pl.DataFrame:
    """`decide` of its launches alone; undecided in place of WITHIN where an algorithm of the point has no time there,
    which may be the best."""
    there = results.filter(pl.col(STATE) == state)
    missing = (
        launch_medians(results)
        .join(launch_medians(there), on=[*POINT, *ALGORITHM], how="anti")
        .select(*POINT, pl.lit(True).alias("missing"))
        .unique()
    )
    unknown = pl.col("missing").fill_null(False) & (pl.col("standing") == WITHIN)
    return (
        decide(there)
        .join(missing, on=POINT, how="left", maintain_order="left")
        .with_columns(pl.when(unknown).then(pl.lit(UNDECIDED)).otherwise("standing").alias("standing"))
    )


def _struct(decisions: pl.DataFrame) -> pl.Struct:
    return pl.Struct({"state": pl.String, **{name: decisions.schema[name] for name in _TOLD}})


def _differ(states: list[dict[str, Any]], shown_slower: list[list[str]]) -> bool:
    """By each state's verdict, and the labels that are shown to be slower than its best."""
    standings = [state["standing"] for state in states]
    if SLOWER in standings and WITHIN in standings:
        return True
    best = [state["best_label"] for state in states if state["standing"] == SLOWER]
    lost = [labels or [] for standing, labels in zip(standings, shown_slower, strict=True) if standing == SLOWER]
    return any(label in labels for label in best for labels in lost)
