"""LogGP and max-rate from a campaign's rows: each is fitted to several curves together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import UserError
from timpani.models.curves import launches_by
from timpani.models.disturbed import disturbed
from timpani.models.fitted_model import NamedModel, NotFitted
from timpani.models.line import Array
from timpani.models.loggp import LogGP, loggp
from timpani.models.max_rate import MaxRate, max_rate
from timpani.study.cell import parse_parameters
from timpani.study.schema import CURVE, STATE, without

ROUND_TRIP = "prtt"
"""The operation that LogGP is fitted to; its parameters are `messages` and `delay_ns`."""

RATE = "message_rate"
"""The operation that max-rate is fitted to: its time is that from one message to the next, of all senders together.

Its parameter `pairs` is how many send at once; 0 is half of the ranks.
"""

_TRIP = ("messages", "delay_us", "message_bytes")
_BURST = ("senders", "ranks", "message_bytes")
_NS_PER_US = 1e3
_RANKED = without(CURVE, "ranks")


def loggp_models(rows: pl.DataFrame) -> Iterator[NamedModel[LogGP] | NotFitted]:
    """LogGP of each pair of ranks in `timed` rows, or the reason why it cannot be fitted."""
    rows = _with_parameters(rows.filter(collective=ROUND_TRIP), messages=1, delay_ns=0)
    for name, part in rows.with_columns(delay_us=pl.col("delay_ns") / _NS_PER_US).group_by(CURVE, maintain_order=True):
        part, lacking = _measured_by_most(part, *_TRIP)
        yield from (NotFitted(f"LogGP: {why}") for why in lacking)
        trips, measured = launches_by(part, *_TRIP)
        times, said = _settled(part, trips, measured, *_TRIP)
        yield from (NotFitted(f"LogGP: {why}") for why in said)
        try:
            model = loggp([dict(zip(trips, launch, strict=True)) for launch in _complete_launches(times).tolist()])
        except UserError as error:
            yield NotFitted(str(error))
        else:
            yield NamedModel(dict(zip(CURVE, name, strict=True)), model)


def max_rate_models(rows: pl.DataFrame) -> Iterator[NamedModel[MaxRate] | NotFitted]:
    """The max-rate model of each placement in `timed` rows, or the reason why it cannot be fitted."""
    rows = _with_parameters(rows.filter(collective=RATE), pairs=0)
    senders_of = pl.when(pl.col("pairs") > 0).then("pairs").otherwise(pl.col("ranks") // 2)
    for name, part in rows.with_columns(senders=senders_of).group_by(_RANKED, maintain_order=True):
        part, lacking = _measured_by_most(part, *_BURST)
        yield from (NotFitted(f"max-rate: {why}") for why in lacking)
        cells, measured = launches_by(part, *_BURST)
        times, said = _settled(part, cells, measured, *_BURST)
        yield from (NotFitted(f"max-rate: {why}") for why in said)
        try:
            senders, _, sizes = np.array(cells, dtype=np.float64).T
            if min(len(set(senders)), len(set(sizes))) < 2:
                raise UserError(
                    "max-rate takes message rates of two numbers of senders and at two sizes or more",
                    "measure message_rate with --ranks 2,4 --sizes 1:1Mi",
                )
            model = max_rate(senders, sizes, senders * _complete_launches(times))
        except UserError as error:
            yield NotFitted(str(error))
        else:
            yield NamedModel(dict(zip(_RANKED, name, strict=True)), model)


def _with_parameters(rows: pl.DataFrame, **defaults: int) -> pl.DataFrame:
    """The rows with a column for each of these parameters, which the column `parameters` then leaves out."""
    read = [defaults | dict(parse_parameters(text)) for text in rows["parameters"]]
    others = [{name: value for name, value in each.items() if name not in defaults} for each in read]
    return rows.with_columns(
        *(pl.Series(name, [each[name] for each in read], pl.Int64) for name in defaults),
        pl.Series("parameters", [",".join(f"{name}={value}" for name, value in each.items()) for each in others]),
    )


def _measured_by_most(rows: pl.DataFrame, *cell: str) -> tuple[pl.DataFrame, list[str]]:
    """The rows of cells that at least half of the launches measured, and a sentence for each other cell.

    A launch is fitted whole or not at all: one cell that failed in most would take them all with it.
    """
    launches = rows["launch"].n_unique()
    counted = rows.with_columns(pl.col("launch").n_unique().over(cell).alias("measured_by"))
    by_most = 2 * pl.col("measured_by") >= launches
    lacking = [
        f"{', '.join(f'{name}={row[name]:g}' for name in cell)} was measured by {row['measured_by']} of "
        f"{launches} launches"
        for row in counted.filter(~by_most).unique(cell, maintain_order=True).iter_rows(named=True)
    ]
    return counted.filter(by_most).drop("measured_by"), lacking


def _settled(rows: pl.DataFrame, cells: list[tuple[Any, ...]], times: Array, *cell: str) -> tuple[Array, list[str]]:
    """The times of `launches_by`, disturbed ones replaced by their cell's median, and a sentence that counts these.

    A launch is fitted whole: without one time all of its others would be lost. A time is disturbed where it is far off
    the times of launches in the same state of the machine.
    """
    place = {each: number for number, each in enumerate(cells)}
    row = {each: number for number, each in enumerate(sorted(rows["launch"].unique()))}
    off = np.zeros(times.shape, dtype=bool)
    for _, part in rows.group_by(STATE):
        alone = np.full(times.shape, np.nan)
        where = [row[each] for each in part["launch"]], [place[each] for each in part.select(cell).rows()]
        alone[where] = times[where]
        off |= disturbed(alone)
    count, of = int(off.sum()), int(np.isfinite(times).sum())
    said = [f"{count} of {of} times far off the median over launches, which stands in for them"] if count else []
    return np.where(off, np.nanmedian(times, axis=0), times), said


def _complete_launches(times: Array) -> Array:
    """The launches without a missing time, since each launch is fitted by itself; UserError where there is none."""
    whole = times[np.isfinite(times).all(axis=1)]
    if not len(whole):
        raise UserError("no launch measured all of what the model takes", "measure again with more launches")
    return whole
