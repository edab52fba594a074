"""The states of the machine while a campaign measured, found in the probes before and after each point."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import polars as pl

from timpani.stats.states import MIN_RATIO, States, find_states
from timpani.study.schema import CHANGED, STATE, STATES
from timpani.study.words import counted

_PROBED = ("machine", "ranks", "placement")  # where they are equal, the same pairs of ranks are probed
_PROBES = ("probe_before_ns", "probe_after_ns")
_INTERRUPTED_NS = 100_000  # a rank lost its core during a probe that took longer: no state of the machine
_WAS_PROBED = pl.all_horizontal(pl.col(*_PROBES).is_between(0, _INTERRUPTED_NS, closed="none"))
_ROW = "row"


@dataclass(frozen=True)
class MachineState:
    """A state of one machine, or CHANGED.

    level_ns  what the probe took, geometric mean; None of CHANGED, which has no level
    share     of what was measured
    """

    machine: str
    ranks: int
    placement: str
    state: str
    level_ns: float | None
    share: float


def with_states(results: pl.DataFrame) -> pl.DataFrame:
    """The results (columns RESULT_SCHEMA) with the column STATE."""
    if results.is_empty():
        return results.with_columns(pl.lit(None, dtype=pl.String).alias(STATE))
    probed = results.with_row_index(_ROW).with_columns(pl.coalesce("interleaving", pl.col(_ROW).cast(pl.String)))
    named = []
    for _, machine in probed.group_by("machine", maintain_order=True):
        parts = [(part, _states(part)) for _, part in machine.group_by(_PROBED, maintain_order=True)]
        names = _common_names([states.levels for _, states in parts if states and len(states.levels) > 1])
        named += [_with_states(part, states, names) for part, states in parts]
    return results.with_columns(pl.concat(named).sort(_ROW)[STATE])


def machine_states(results: pl.DataFrame) -> list[MachineState]:
    """The states in results with the column STATE, nearest first and CHANGED last; none of machines with only one."""
    order = pl.Enum([*STATES, CHANGED])
    level = pl.when(pl.col(STATE).first() != CHANGED).then(pl.concat_list(*_PROBES).explode().log().mean().exp())
    found = (
        results.filter(pl.col(STATE).is_not_null())
        .group_by(*_PROBED, pl.col(STATE).cast(order))
        .agg(level.alias("level_ns"), pl.len().alias("measured"))
        .with_columns((pl.col("measured") / pl.sum("measured").over(_PROBED)).alias("share"))
        .sort(*_PROBED, STATE)
    )
    return [MachineState(**row) for row in found.drop("measured").iter_rows(named=True)]


def state_sentences(results: pl.DataFrame) -> Iterator[str]:
    """A sentence for each machine and placement that had several states."""
    for _, states in groupby(machine_states(results), key=lambda each: (each.machine, each.ranks, each.placement)):
        found = list(states)
        steady = [each for each in found if each.state != CHANGED]
        took = ", ".join(f"{each.level_ns:.0f} ns in {_percent(each.share)} (state {each.state})" for each in steady)
        changed = sum(each.share for each in found if each.state == CHANGED)
        during = f"; the state changed during {_percent(changed)} of the results" if changed else ""
        where = f"{counted(found[0].ranks, 'rank')} by {found[0].placement}"
        yield (
            f"communication on {found[0].machine} changed its speed ({where}): a probe took {took} of the results. "
            f"Times depend on the state, ratios of algorithms hardly{during}"
        )


def _percent(share: float) -> str:
    """Whole, but for what would be 0 %."""
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1g} %"


def _states(part: pl.DataFrame) -> States | None:
    """The states of rows whose probes ran between the same ranks; None without probes."""
    once = part.filter(_WAS_PROBED).unique(["launch", "interleaving"])  # interleaved cells share their probes
    return find_states(np.concatenate([once[name].to_numpy() for name in _PROBES])) if once.height else None


def _common_names(parts: list[tuple[float, ...]]) -> dict[float, str]:
    """The name of each level, so that one level has one name in all parts of a machine.

    Where a machine has more levels than there are names, each part names its own.
    """
    ascending = sorted({level for levels in parts for level in levels})
    if not ascending:
        return {}
    numbers = np.cumsum([0, *(high / low >= MIN_RATIO for low, high in pairwise(ascending))])
    if numbers[-1] < len(STATES):
        return dict(zip(ascending, (_name(number, numbers[-1] + 1) for number in numbers), strict=True))
    return {level: _name(number, len(levels)) for levels in parts for number, level in enumerate(levels)}


def _name(number: int, states: int) -> str:
    return STATES[-1] if number and number == states - 1 else STATES[number]


def _with_states(part: pl.DataFrame, states: States | None, names: Mapping[float, str]) -> pl.DataFrame:
    """The numbers of its rows with STATE."""
    named: list[str | None] = [None] * part.height
    if states and len(states.levels) > 1:
        known = [names[level] for level in states.levels]
        before, after = (states.nearest(part[name].fill_null(0.0).to_numpy()) for name in _PROBES)
        named = [
            None if not probed else known[first] if first == second else CHANGED
            for probed, first, second in zip(part.select(_WAS_PROBED).to_series(), before, after, strict=True)
        ]
    return part.select(_ROW, pl.Series(STATE, named, dtype=pl.String))
