"""Times and choices at scales of four supercomputers that are hidden from `timpani predict --backtest`.

predicted_times  inside one series: one evening, 2 to 4 times the nodes
choices          that are over 5 % slower than the default; the margin of hedged choices, cross-validated over machines
regret           of all methods, at 2, 4 and 8 times the nodes
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from math import log, log2
from pathlib import Path

import numpy as np
import polars as pl

from timpani.cli.terminal.options import Format, document_text
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import EqualNodes, Simulator
from timpani.schedules.predict.backtest import (
    ANCHORED,
    Measurement,
    backtest,
    backtest_document,
    call_named,
    total_bytes,
)
from timpani.schedules.predict.predicted_rules import losses
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

MAX_ERRORS = (0.05, 0.30)
MAX_LOSSES = 0.10
MAX_REGRETS = {2.0: 0.09, 4.0: 0.16, 8.0: 0.19}
FACTORS = (2.0, 4.0, 8.0, 16.0, 64.0, 128.0, 512.0, 1024.0)
OTHER_RAILS = "2025_03_28___17_14_41"
"""The second job on 2,048 nodes of Leonardo, over other rails: another setting, so no part of that evening's series."""
_EVENING = timedelta(hours=6)
_ELEMENT_BYTES = 4
MAX_SIMULATED = 1024
"""Ranks; simulating Fugaku's largest jobs takes an hour."""


def measure_times(table: Path) -> bool:
    """Print the errors of times inside one series, by method."""
    cells = _cells(table).filter((pl.col("archive") != OTHER_RAILS) | (pl.col("gpu") == "yes"))
    started = sorted(datetime.strptime(each, "%Y_%m_%d___%H_%M_%S") for each in cells["archive"].unique())
    evenings, evening = {}, 0
    for last, each in zip([datetime.min, *started], started, strict=False):
        evening += each - last > _EVENING
        evenings[each.strftime("%Y_%m_%d___%H_%M_%S")] = evening
    found = backtest(_measurements(cells, evenings), _simulator(), print)
    found = found.filter(pl.col("factor").is_between(2, 4))
    for name, part in [*found.group_by("series", "known", "hidden", maintain_order=True), ("all", found)]:
        errors = part.filter(method=ANCHORED)["error"].drop_nulls()
        if len(errors):
            print(*name, len(errors), *(f"{np.expm1(np.quantile(errors, level)):.1%}" for level in (0.5, 0.9)))
    print(document_text(backtest_document(found), Format.text))
    reached = [np.expm1(np.quantile(found.filter(method=ANCHORED)["error"].drop_nulls(), at)) for at in (0.5, 0.9)]
    print(f"median and nine in ten: {reached[0]:.1%}, {reached[1]:.1%} (at most {MAX_ERRORS})")
    return all(error <= limit for error, limit in zip(reached, MAX_ERRORS, strict=True))


def measure_choices(table: Path) -> bool:
    """Print the share of choices over 5 % slower than the default, and of margins from three machines on the fourth."""
    kept = True
    for factor, part in _choices(table).group_by("factor", maintain_order=True):
        losses = part["loss"].drop_nulls()
        if factor[0] in FACTORS and len(losses):
            share = float((losses > 1.05).mean())  # type: ignore[arg-type]
            print(f"{factor[0]:5.0f} times the nodes: {share:.1%} of {len(losses)} choices (at most {MAX_LOSSES:.0%})")
            kept &= share <= MAX_LOSSES
    machines = sorted(_cells(table)["machine"].unique())
    for machine in machines:
        others = [each for each in machines if each != machine]
        margins = np.arange(0.0, 0.05, 0.002)
        least = next((each for each in margins if _worst_share(table, others, each) <= MAX_LOSSES), margins[-1])
        print(f"margin from the other machines {least:.3f}: {machine} {_worst_share(table, [machine], least):.1%}")
    return kept


def measure_regret(table: Path) -> bool:
    """Print the mean regret by factor and method."""
    found = _backtest(table).filter(pl.col("factor").is_in(FACTORS), pl.col("regret").is_not_null())
    means = found.group_by("factor", "method").agg(pl.col("regret").mean(), pl.len()).sort("factor", "method")
    kept = True
    for factor, method, regret, count in means.iter_rows():
        limit = MAX_REGRETS.get(factor) if method == ANCHORED else None
        print(
            f"{factor:5.0f} times the nodes, {method:<9} {regret:.1%} of {count}" + f" (at most {limit})" * bool(limit)
        )
        kept &= limit is None or regret <= limit
    simulated = _cells(table).filter(pl.col("ranks") <= MAX_SIMULATED)
    print(f"With the model, up to {MAX_SIMULATED} ranks:")
    print(document_text(backtest_document(backtest(_measurements(simulated), _simulator(), print)), Format.text))
    return kept


def _choices(table: Path) -> pl.DataFrame:
    found = _backtest(table).filter(pl.col("method") == ANCHORED, pl.col("regret").is_not_null())
    return found.sort("factor")


def _worst_share(table: Path, machines: Iterable[str], per_squared_doubling: float) -> float:
    """The largest share of losses at any factor if the margin were another one."""
    shares: dict[float, list[bool]] = {}
    cells = _cells(table).filter(pl.col("machine").is_in([*machines]))
    for (_, *_), part in cells.group_by("machine", "gpu", "lib", "collective", "per_node"):
        times = {
            scale: {
                size: dict(of_size.group_by("algorithm").agg(pl.col("median").median()).iter_rows())
                for (size,), of_size in of_scale.group_by("bytes")
            }
            for (scale,), of_scale in part.group_by("nodes")
        }
        for known, hidden in ((a, b) for a in times for b in times if b / a in FACTORS):
            for size in times[known].keys() & times[hidden].keys():
                here, there = times[known][size], times[hidden][size]
                both = sorted(here.keys() & there.keys())
                default = next((each for each in both if _is_default(each)), None)
                if default is None:
                    continue
                slower = losses(times[known], size)
                best = min(both, key=slower.__getitem__)
                gain = slower[default] - slower[best]
                choice = best if gain > per_squared_doubling * log2(hidden / known) ** 2 else default
                shares.setdefault(hidden / known, []).append(log(there[choice] / there[default]) > log(1.05))
    return max((float(np.mean(each)) for each in shares.values() if len(each) >= 1 / MAX_LOSSES), default=0.0)


@cache
def _backtest(table: Path) -> pl.DataFrame:
    return backtest(_measurements(_cells(table)), None, print)


@cache
def _cells(table: Path) -> pl.DataFrame:
    cells = pl.read_csv(table).with_columns(per_node=pl.col("ranks") // pl.col("nodes"))
    return cells.filter(pl.col("collective").is_in([*COLLECTIVES]))


@cache
def _simulator() -> Simulator:
    return Simulator(build_without_mpi(None))


def _is_default(algorithm: str) -> bool:
    return algorithm.startswith("default_") or algorithm == "default-default"


def _measurements(cells: pl.DataFrame, evenings: dict[str, int] | None = None) -> list[Measurement]:
    """evenings: of each job; without them, jobs of all days are one series."""
    found = []
    for row in cells.iter_rows(named=True):
        series = (row["machine"], row["gpu"], row["lib"], row["collective"], row["per_node"])
        movement = COLLECTIVES[row["collective"]].movement
        in_blocks = movement is not None and {"block", "blocks", "pairs"} & {
            movement.send.content,
            movement.receive.content,
        }
        count = row["bytes"] // _ELEMENT_BYTES // (row["ranks"] if in_blocks else 1)
        name = Algorithm("pico", row["algorithm"])
        places = EqualNodes(row["nodes"]) if row["per_node"] > 1 else ()
        known = not _is_default(row["algorithm"]) and count > 0 and row["gpu"] == "no"
        found.append(
            Measurement(
                (*series, evenings[row["archive"]]) if evenings else series,
                row["algorithm"],
                _is_default(row["algorithm"]),
                row["nodes"],
                total_bytes(row["bytes"]),
                call_named(row["collective"], name, row["ranks"], count, _ELEMENT_BYTES, places) if known else None,
                row["median"] / 1e3,
            )
        )
    return found
