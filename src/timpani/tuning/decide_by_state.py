"""The verdict at each point, and in each state of the machine: where these differ they are two verdicts."""

from typing import Any

import polars as pl

from timpani.study.schema import POINT, STATE, STATES
from timpani.tuning.decide import SLOWER, WITHIN, decide

_TOLD = ("standing", "best_label", "tied", "gain", "gain_low", "gain_high")


def decide_by_state(results: pl.DataFrame) -> pl.DataFrame:
    """The columns of `decide`, from all launches together, and:

    by_state       of a point that was measured in several states a struct for each, nearest first: `state`, and of its
                   launches alone standing, best_label, tied, gain, gain_low and gain_high, as `decide` has them
    states_differ  two states are both shown to be something (not UNDECIDED), and not the same: the default is within
                   5 % in one and slower in another, or slower in both, than algorithms of which the best of one is
                   significantly slower in the other. `standing` is SLOWER then
    """
    decisions = decide(results)
    told = [
        decide(results.filter(pl.col(STATE) == state))
        .filter(pl.col("verdict").is_not_null())
        .select(*POINT, pl.struct(pl.lit(state).alias("state"), *_TOLD).alias("by_state"))
        for state in STATES
        if (results[STATE] == state).any()
    ]
    if len(told) < 2:
        empty = pl.Series("by_state", [None] * decisions.height, dtype=pl.List(_struct(decisions)))
        return decisions.with_columns(empty, pl.lit(False).alias("states_differ"))
    by_state = (
        pl.concat(told).group_by(POINT, maintain_order=True).agg("by_state").filter(pl.col("by_state").list.len() > 1)
    )
    joined = decisions.join(by_state, on=POINT, how="left", maintain_order="left")
    differ = pl.Series(
        "states_differ", [_differ(states or []) for states in joined["by_state"].to_list()], dtype=pl.Boolean
    )
    return joined.with_columns(differ).with_columns(
        pl.when("states_differ").then(pl.lit(SLOWER)).otherwise("standing").alias("standing"),
        pl.when(~pl.col("states_differ")).then("launches_to_decide").alias("launches_to_decide"),
    )


def _struct(decisions: pl.DataFrame) -> pl.Struct:
    return pl.Struct({"state": pl.String, **{name: decisions.schema[name] for name in _TOLD}})


def _differ(states: list[dict[str, Any]]) -> bool:
    shown = [state for state in states if state["standing"] in (WITHIN, SLOWER)]
    slower = [state for state in shown if state["standing"] == SLOWER]
    if slower and len(slower) < len(shown):
        return True
    return any(one["best_label"] not in (other["tied"] or []) for one in slower for other in slower)
