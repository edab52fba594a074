"""The verdict at each point, for all launches and for each state of the machine."""

from typing import Any

import polars as pl

from timpani.study.schema import ALGORITHM, POINT, STATE, STATES
from timpani.tuning.decide.decide import SLOWER, UNDECIDED, WITHIN, decide
from timpani.tuning.decide.points import launch_medians
from timpani.tuning.race.results import RacedResults, abandoned_by_race

_STATE_COLUMNS = ("standing", "best_label", "tied", "gain", "gain_low", "gain_high")


def decide_by_state(results: RacedResults) -> pl.DataFrame:
    """The columns of `decide` without `significantly_slower`, from all launches together, and two columns:

    by_state       for a point measured in several states, a struct per state, nearest first: `state`, and standing,
                   best_label, tied, gain, gain_low and gain_high of `decide` from the launches in this state
    states_differ  whether two states have significantly different verdicts. Either the default is within 5 % of the
                   best in one state and slower in another, or it is slower in both and the best algorithm of one is
                   significantly slower than the best of the other. `standing` is then SLOWER

    In a race the launches of each state are judged as a separate race with the same error probability. An algorithm
    that was dropped before a state began is not compared in that state. So it shows no difference there, and the
    default cannot be within 5 % of the best.
    """
    decisions = decide(results).drop("significantly_slower")
    states = [state for state in STATES if (results.rows[STATE] == state).any()]
    if len(states) < 2:
        empty = pl.Series("by_state", [None] * decisions.height, dtype=pl.List(_struct(decisions)))
        return decisions.with_columns(empty, pl.lit(False).alias("states_differ"))
    # No state causes an algorithm to be abandoned.
    lasting = results.rows.join(abandoned_by_race(results.race), on=[*POINT, *ALGORITHM], how="anti")
    verdicts = [
        _of_state(lasting, state)
        .filter(pl.col("verdict").is_not_null())
        .select(
            *POINT, pl.struct(pl.lit(state).alias("state"), *_STATE_COLUMNS).alias("by_state"), "significantly_slower"
        )
        for state in states
    ]
    by_state = (
        pl.concat(verdicts)
        .group_by(POINT, maintain_order=True)
        .agg("by_state", "significantly_slower")
        .filter(pl.col("by_state").list.len() > 1)
    )
    joined = decisions.join(by_state, on=POINT, how="left", maintain_order="left")
    differ = pl.Series(
        "states_differ",
        [
            _differ(states or [], slower or [])
            for states, slower in joined.select("by_state", "significantly_slower").rows()
        ],
        dtype=pl.Boolean,
    )
    return (
        joined.drop("significantly_slower")
        .with_columns(differ)
        .with_columns(
            pl.when("states_differ").then(pl.lit(SLOWER)).otherwise("standing").alias("standing"),
            pl.when(~pl.col("states_differ")).then("launches_to_decide").alias("launches_to_decide"),
        )
    )


def _of_state(results: pl.DataFrame, state: str) -> pl.DataFrame:
    """`decide` for the launches in one state, with UNDECIDED instead of WITHIN if an algorithm has no time there.

    The algorithm without a time may be the best.
    """
    there = results.filter(pl.col(STATE) == state)
    missing = (
        launch_medians(results)
        .join(launch_medians(there), on=[*POINT, *ALGORITHM], how="anti")
        .select(*POINT, pl.lit(True).alias("missing"))
        .unique()
    )
    unknown = pl.col("missing").fill_null(False) & (pl.col("standing") == WITHIN)
    return (
        decide(RacedResults.from_rows(there))
        .join(missing, on=POINT, how="left", maintain_order="left")
        .with_columns(pl.when(unknown).then(pl.lit(UNDECIDED)).otherwise("standing").alias("standing"))
    )


def _struct(decisions: pl.DataFrame) -> pl.Struct:
    return pl.Struct({"state": pl.String, **{name: decisions.schema[name] for name in _STATE_COLUMNS}})


def _differ(states: list[dict[str, Any]], significantly_slower: list[list[str]]) -> bool:
    """Whether the verdicts of two states differ.

    states               the struct of each state
    significantly_slower  for each state the labels that are significantly slower than its best
    """
    standings = [state["standing"] for state in states]
    if SLOWER in standings and WITHIN in standings:
        return True
    best = [state["best_label"] for state in states if state["standing"] == SLOWER]
    lost = [
        labels or [] for standing, labels in zip(standings, significantly_slower, strict=True) if standing == SLOWER
    ]
    return any(label in labels for label in best for labels in lost)
