"""LogGP and max-rate from a campaign's rows; each model combines several curves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curve import disturbed, medians_over_launches, times_by_launch
from timpani.models.line import Array
from timpani.models.loggp import LogGP, loggp
from timpani.models.max_rate import MaxRate, max_rate
from timpani.study.cell import parse_parameters
from timpani.study.schema import CURVE, STATE, without

Model = TypeVar("Model")


@dataclass(frozen=True)
class NamedModel(Generic[Model]):
    """name: columns and values that these measurements have in common."""

    name: dict[str, Any]
    model: Model


@dataclass(frozen=True)
class NotFitted:
    """The reason why a model couldn't be fitted, as a sentence."""

    why: str


ROUND_TRIP = "prtt"
"""The operation that LogGP uses; its parameters are `messages` and `delay_ns`."""

RATE = "message_rate"
"""The operation that max-rate uses: its time is the interval between messages of all senders together. The parameter
`pairs` is the number of senders; 0 means half of the ranks."""

_TRIP = ("messages", "delay_us", "message_bytes")
_BURST = ("senders", "ranks", "message_bytes")
_NS_PER_US = 1e3
_OVER_RANKS = without(CURVE, "ranks")


def loggp_models(rows: pl.DataFrame) -> Iterator[NamedModel[LogGP] | NotFitted]:
    """LogGP of each pair of ranks in `timed` rows, or the reason why it can't be fitted."""
    rows = _with_parameters(rows.filter(collective=ROUND_TRIP), messages=1, delay_ns=0)
    for name, part in rows.with_columns(delay_us=pl.col("delay_ns") / _NS_PER_US).group_by(CURVE, maintain_order=True):
        trips, times, notes = _complete_cells(part, *_TRIP)
        yield from (NotFitted(f"LogGP: {why}") for why in notes)
        try:
            model = loggp([dict(zip(trips, launch, strict=True)) for launch in _complete_launches(times).tolist()])
        except UserError as error:
            yield NotFitted(str(error))
        else:
            yield NamedModel(dict(zip(CURVE, name, strict=True)), model)


def max_rate_models(rows: pl.DataFrame) -> Iterator[NamedModel[MaxRate] | NotFitted]:
    """The max-rate model of each placement in `timed` rows, or the reason why it can't be fitted."""
    rows = _with_parameters(rows.filter(collective=RATE), pairs=0)
    senders_of = pl.when(pl.col("pairs") > 0).then("pairs").otherwise(pl.col("ranks") // 2)
    for name, part in rows.with_columns(senders=senders_of).group_by(_OVER_RANKS, maintain_order=True):
        cells, times, notes = _complete_cells(part, *_BURST)
        yield from (NotFitted(f"max-rate: {why}") for why in notes)
        try:
            senders, _, sizes = np.array(cells, dtype=np.float64).T
            if min(len(set(senders)), len(set(sizes))) < 2:
                raise UserError(
                    "max-rate needs message rates for at least two numbers of senders and two sizes",
                    "measure message_rate with --ranks 2,4 --sizes 1:1Mi",
                )
            model = max_rate(senders, sizes, senders * _complete_launches(times))
        except UserError as error:
            yield NotFitted(str(error))
        else:
            yield NamedModel(dict(zip(_OVER_RANKS, name, strict=True)), model)


def _with_parameters(rows: pl.DataFrame, **defaults: int) -> pl.DataFrame:
    """The rows with a column for each of these parameters; the column `parameters` keeps the others."""
    read = [defaults | dict(parse_parameters(text)) for text in rows["parameters"]]
    others = [{name: value for name, value in each.items() if name not in defaults} for each in read]
    return rows.with_columns(
        *(pl.Series(name, [each[name] for each in read], pl.Int64) for name in defaults),
        pl.Series("parameters", [",".join(f"{name}={value}" for name, value in each.items()) for each in others]),
    )


def _complete_cells(rows: pl.DataFrame, *cell: str) -> tuple[list[tuple[Any, ...]], Array, list[str]]:
    """The cells and times of `times_by_launch`, and a sentence for each cell and on the times that are left out.

    Launches are fitted whole. A cell that failed in most launches would exclude these, so it is left out. A disturbed
    time would exclude its launch, so it is replaced by its cell's median. Times are compared with those of launches in
    the same state of the machine.
    """
    launches = rows["launch"].n_unique()
    counted = rows.with_columns(pl.col("launch").n_unique().over(cell).alias("measured_by"))
    by_most = 2 * pl.col("measured_by") >= launches
    notes = [
        f"{', '.join(f'{name}={row[name]:g}' for name in cell)} was measured by {row['measured_by']} of "
        f"{launches} launches"
        for row in counted.filter(~by_most).unique(cell, maintain_order=True).iter_rows(named=True)
    ]
    rows = counted.filter(by_most)
    cells, times = times_by_launch(rows, *cell)
    place = {each: number for number, each in enumerate(cells)}
    row_of = {each: number for number, each in enumerate(sorted(rows["launch"].unique()))}
    off = np.zeros(times.shape, dtype=bool)
    for _, part in rows.group_by(STATE):
        alone = np.full(times.shape, np.nan)
        where = [row_of[each] for each in part["launch"]], [place[each] for each in part.select(cell).rows()]
        alone[where] = times[where]
        off |= disturbed(alone)
    if off.any():
        of = int(np.isfinite(times).sum())
        notes.append(f"{off.sum()} of {of} times were far from the median over launches and replaced by it")
    return cells, np.where(off, medians_over_launches(times), times), notes


def _complete_launches(times: Array) -> Array:
    """The launches without a missing time; UserError if each lacks one."""
    whole = times[np.isfinite(times).all(axis=1)]
    if not len(whole):
        raise UserError("no launch measured all cells that the model needs", "measure again with more launches")
    return whole
