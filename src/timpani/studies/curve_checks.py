"""Checks of how a time grows with message size and with the number of ranks."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import log2
from operator import ge, le, lt
from typing import Any

import numpy as np
import polars as pl

from timpani.studies.claim import (
    CURVE,
    Case,
    Check,
    Claim,
    MissingTimesError,
    cases_of,
    ratios_to,
    require_cases,
    times_of,
)
from timpani.study.sizes import show_size
from timpani.study.words import counted

_PROPORTIONAL = 2.0
"""Growth of the time over one doubling of the size, if time were proportional to size."""

_MILD = 2**0.5
"""A mild slope grows at most half as fast as a proportional one on log axes."""

_JUMP = 1.25
"""A switch of protocol exceeds the straight line through the next sizes by a quarter: more than the difference
between averages of single runs."""

_NEAR_THE_FORMULA = 2.0
_SHARE = 0.95
"""A formula describes the times if its error is below one doubling of the size at this share of the points."""


def _curves(claim: Claim, times: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Each curve over ascending sizes, without empty messages."""
    sized = times_of(times, claim.algorithms).filter(pl.col("message_bytes") > 0).sort(*CURVE, "message_bytes")
    for _, curve in sized.group_by(*CURVE, maintain_order=True):
        yield curve


def _rises_sharply_after(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the growth over the doubling that begins at the claim's size."""
    cases: list[Case] = []
    for curve in _curves(claim, times):
        halves = curve.with_columns(pl.col("message_bytes") * 2)  # at each size the time of its half
        growth = ratios_to(curve, halves, (*CURVE, "message_bytes")).sort("message_bytes")
        before = growth.filter(pl.col("message_bytes") <= claim.bytes)["ratio"].to_list()
        threshold = max([_PROPORTIONAL, *before])
        there = growth.filter(message_bytes=2 * claim.bytes) if before else growth.clear()
        cases += [replace(case, bytes=None) for case in cases_of(there, partial(lt, threshold))]
    return require_cases(cases, f"no times at {show_size(claim.bytes)}, at half and at twice that size")


def _mild_slope(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the mean growth per doubling from its smallest size to the largest in scope."""
    cases: list[Case] = []
    for curve in _curves(claim, times):
        first, last = curve.head(1), curve.filter(message_bytes=claim.to_bytes)
        if last.is_empty() or last["message_bytes"][0] < 2 * first["message_bytes"][0]:
            continue
        doublings = log2(last["message_bytes"][0] / first["message_bytes"][0])
        mean = ratios_to(last, first, CURVE).with_columns(pl.col("ratio", "ratio_low", "ratio_high") ** (1 / doublings))
        cases += [replace(case, bytes=None) for case in cases_of(mean, partial(ge, _MILD))]
    return require_cases(cases, f"no times at {show_size(claim.to_bytes)} and at a smaller size")


def _jumps_within(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the largest jump: a time over the value of the straight line through the next two sizes.

    For a line `a + b·n`, the time at 2n is the time at n plus half of the increase over the next doubling.
    """
    cases: list[Case] = []
    for curve in _curves(claim, times):
        by_size = {row["message_bytes"]: row for row in curve.to_dicts()}
        jumps = [
            _jump(by_size[size // 2], row, by_size[2 * size])
            for size, row in by_size.items()
            if size % 2 == 0 and {size // 2, 2 * size} <= set(by_size) and size <= claim.bytes
        ]
        if jumps:
            largest = max(jumps, key=lambda each: each.value)
            low, high = (_largest(bounds) for bounds in ([each.low for each in jumps], [each.high for each in jumps]))
            cases.append(replace(largest, low=low, high=high).decided(partial(le, _JUMP)))
    return require_cases(cases, f"no three sizes up to {show_size(2 * claim.bytes)}, each twice the one before")


def _jump(half: dict[str, Any], here: dict[str, Any], double: dict[str, Any]) -> Case:
    """The jump at one size, with bounds from the bounds of all three times."""

    def over_line(before: str, time: str, after: str) -> Any:
        first, second, third = half[before], here[time], double[after]
        return None if None in (first, second, third) else second / (first + max(0.0, third - second) / 2)

    return Case(
        f"{counted(here['ranks'], 'rank')}, {show_size(here['message_bytes'])}",
        over_line("time_us", "time_us", "time_us"),
        over_line("high_us", "low_us", "high_us"),
        over_line("low_us", "high_us", "low_us"),
        ranks=here["ranks"],
    )


def _largest(bounds: list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def _with_ranks(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """At each size the steps between rank counts, as factors in the claimed direction."""
    steps = [(*pair, False) for pair in pairwise(claim.rises)] + [(*pair, True) for pair in pairwise(claim.falls)]
    cases: list[Case] = []
    own = times_of(times, claim.algorithms).sort("placement", "mode", "machine", "message_bytes")
    for _, size in own.group_by("placement", "mode", "machine", "message_bytes", maintain_order=True):
        by_ranks = {row["ranks"]: row for row in size.to_dicts()}
        cases += [
            _step(by_ranks[fewer], by_ranks[more], falls)
            for fewer, more, falls in steps
            if {fewer, more} <= set(by_ranks)
        ]
    steps_words = ", ".join(f"{fewer} and {more}" for fewer, more, _ in steps)
    return require_cases(cases, f"no size with times on both rank counts of a step: {steps_words}")


def _step(fewer: dict[str, Any], more: dict[str, Any], falls: bool) -> Case:
    first, second = (more, fewer) if falls else (fewer, more)
    value = second["time_us"] / first["time_us"]
    low, high = (
        None if None in (a, b) else a / b
        for a, b in ((second["low_us"], first["high_us"]), (second["high_us"], first["low_us"]))
    )
    return Case(
        f"{fewer['ranks']} to {more['ranks']} ranks, {show_size(fewer['message_bytes'])}",
        value,
        low,
        high,
        ranks=more["ranks"],
        bytes=fewer["message_bytes"],
    ).decided(lambda factor: factor > 1, lambda factor: factor < 1)


def _log_linear(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """One case: the factor by which the study's log2 t = b1·ranks + b2·log2 n is wrong at the share of points."""
    own = times_of(times, claim.algorithms).filter(pl.col("message_bytes") > 0)
    if own.height < 3:
        raise MissingTimesError("fewer than the three points that the formula takes")
    ranks, sizes = own["ranks"].to_numpy(), np.log2(own["message_bytes"].to_numpy())
    logs = np.log2(own["time_us"].to_numpy())
    design = np.column_stack([ranks, sizes])
    residuals = logs - design @ np.linalg.lstsq(design, logs, rcond=None)[0]
    value = float(2 ** np.quantile(np.abs(residuals), _SHARE))
    worst = own.row(int(np.argmax(np.abs(residuals))), named=True)
    where = (
        f"{counted(own.height, 'point')}; at most {2 ** np.abs(residuals).max():.3g} "
        f"({worst['ranks']} ranks, {show_size(worst['message_bytes'])})"
    )
    return [Case(where, value, None, None, value <= _NEAR_THE_FORMULA)]


CURVE_CHECKS = {
    "rises-sharply-after": Check(
        lambda claim: (
            f"growth from {show_size(claim.bytes)} to twice that size: faster than proportional (over "
            f"{_PROPORTIONAL:g}), and more than at every smaller doubling"
        ),
        _rises_sharply_after,
    ),
    "mild-slope": Check(
        lambda claim: (
            f"mean growth per doubling up to {show_size(claim.to_bytes)}: at most {_MILD:.2f}, half of a proportional "
            "slope on log axes"
        ),
        _mild_slope,
    ),
    "jumps-within": Check(
        lambda claim: (
            f"largest ratio of a time up to {show_size(claim.bytes)} to the line from half its size with "
            f"the slope up to twice its size: at least {_JUMP}"
        ),
        _jumps_within,
    ),
    "with-ranks": Check(
        lambda claim: (
            "at each size and step of rank counts, the factor in the claimed direction: more than 1"
            + (f"; rises over {', '.join(map(str, claim.rises))}" if claim.rises else "")
            + (f"; falls over {', '.join(map(str, claim.falls))}" if claim.falls else "")
        ),
        _with_ranks,
    ),
    "log-linear": Check(
        lambda claim: (
            f"factor by which log2 t = b1·ranks + b2·log2 n is wrong at {_SHARE:.0%} of the points: at most "
            f"{_NEAR_THE_FORMULA:g}, one doubling"
        ),
        _log_linear,
    ),
}
"""By the names in published/conclusions.toml."""
