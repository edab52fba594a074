"""The kinds of conclusions that studies draw from times, each with the line that decides it drawn in numbers."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, log, log2

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT
from timpani.study.counted import counted
from timpani.study.sizes import show_size
from timpani.tuning.claims.claim import (
    CURVE,
    PLACE,
    Case,
    Check,
    Claim,
    LackingTimesError,
    at_least,
    distances,
    over,
    over_default,
    some,
    times_of,
    under,
)

RISE = 1.5
"""A rise or a jump: the time grows at least so much over one doubling of the size, and by less before it on average."""

NEARLY = 1.25
"""Nearly constant: at most so many times the time of the smallest size."""

COMPARABLE = 1.1
"""Comparable: at most so many times the other's time."""

FASTER, SLOWER = INDIFFERENCE
"""Faster and slower: by more than what makes no difference to a user."""


def _growth(claim: Claim, times: pl.DataFrame, before: pl.Expr) -> list[Case]:
    """Of each curve, the time at the first size that isn't `before` over that at the last one that is."""
    cases: list[Case] = []
    sized = times_of(times, claim.algorithms).filter(pl.col("message_bytes") > 0).sort(*CURVE, "message_bytes")
    for _, curve in sized.group_by(*CURVE, maintain_order=True):
        flat, rest = curve.filter(before), curve.filter(~before)
        if flat.height < 2 or rest.is_empty() or rest["message_bytes"][0] > 2 * flat["message_bytes"][-1]:
            continue
        doublings = log2(flat["message_bytes"][-1] / flat["message_bytes"][0])
        usual = float(flat["time_us"][-1] / flat["time_us"][0]) ** (1 / doublings)
        cases += at_least(max(RISE, usual), over(rest.head(1), flat.tail(1), CURVE))
    return some(cases, f"no sizes on both sides of {show_size(claim.bytes)}, one twice the other")


def _rises_after(claim: Claim, times: pl.DataFrame) -> list[Case]:
    return _growth(claim, times, pl.col("message_bytes") <= claim.bytes)


def _jumps_at(claim: Claim, times: pl.DataFrame) -> list[Case]:
    return _growth(claim, times, pl.col("message_bytes") < claim.bytes)


def _nearly_constant_to(claim: Claim, times: pl.DataFrame) -> list[Case]:
    own = times_of(times, claim.algorithms)
    smallest = own.filter(pl.col("message_bytes") == pl.col("message_bytes").min().over(CURVE))
    there = over(own.filter(message_bytes=claim.bytes), smallest, CURVE).sort(*CURVE)
    return some(under(NEARLY, there), f"no times at {show_size(claim.bytes)}")


def _nearest_to_default(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """One case: the distance, and in words the nearest other's."""
    fixed = sorted(set(times["label"]) - {DEFAULT})
    (own,) = claim.algorithms
    times_of(times, [own])
    if len(fixed) < 2:
        raise LackingTimesError("no other fixed algorithm")
    shared = over_default(fixed, times).filter(pl.len().over(PLACE) == len(fixed))
    if shared.is_empty():
        raise LackingTimesError("no point at which all algorithms were timed")
    found = distances(shared, pl.Expr.mean)
    mine = found.pop(own)
    other = min(found, key=lambda label: found[label].value)
    nearest = True if all(mine.most < each.least for each in found.values()) else None
    beaten = any(each.most <= mine.least for each in found.values())
    points = counted(shared.height // len(fixed), "point")
    where = f"{own} over {points}, and {other} {found[other].value:.3f}"
    return [Case(where, mine.value, mine.low, mine.high, False if beaten else nearest)]


def _rises_with_ranks(claim: Claim, times: pl.DataFrame) -> list[Case]:
    own = times_of(times, claim.algorithms)
    fewer = own.with_columns(pl.col("ranks") * 2)
    return some(
        at_least(SLOWER, over(own, fewer, (*CURVE, "message_bytes")).drop_nulls("ratio")),
        "no rank counts, one twice the other",
    )


def _faster_from(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """From the size on it is faster, below it isn't."""
    rows = over_default(claim.algorithms, times)
    large, small = (
        rows.filter(pl.col("message_bytes") >= claim.bytes),
        rows.filter(pl.col("message_bytes") < claim.bytes),
    )
    return [*some(under(FASTER, large), f"no times from {show_size(claim.bytes)} on"), *at_least(FASTER, small)]


def _sized(
    decide: Callable[[float, pl.DataFrame], list[Case]], line: float, sizes: Callable[[pl.Expr, int], pl.Expr]
) -> Callable[[Claim, pl.DataFrame], list[Case]]:
    """Times over the default's at some sizes, decided by a line."""

    def cases(claim: Claim, times: pl.DataFrame) -> list[Case]:
        rows = over_default(claim.algorithms, times).filter(sizes(pl.col("message_bytes"), claim.bytes))
        return some(decide(line, rows), "no times at such sizes")

    return cases


def _best(sizes: Callable[[pl.Expr, int], pl.Expr]) -> Callable[[Claim, pl.DataFrame], list[Case]]:
    """The time over the lowest of its rivals', which is a tie where it makes no difference."""

    def cases(claim: Claim, times: pl.DataFrame) -> list[Case]:
        wanted = times.filter(sizes(pl.col("message_bytes"), claim.bytes))
        rivals = times_of(wanted, claim.among)
        lowest = rivals.filter(pl.col("time_us") == pl.col("time_us").min().over(PLACE)).unique(PLACE)
        rows = over(times_of(wanted, claim.algorithms), lowest, PLACE).drop_nulls("ratio").sort(*CURVE, "message_bytes")
        faster, slower = under(FASTER, rows), at_least(SLOWER, rows)
        told = [
            replace(won, holds=won.holds or (False if lost.holds else None))
            for won, lost in zip(faster, slower, strict=True)
        ]
        return some(told, "no point at which it and its rivals were timed")

    return cases


def _mapping_matters_only_for(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """The median over points of each algorithm's |ln(time by socket / by core)|, as a factor."""
    by_core, by_socket = (
        times_of(times, [*claim.algorithms, *claim.among]).filter(placement=placement)
        for placement in ("core", "socket")
    )
    key = ("collective", "label", "ranks", "mode", "machine", "message_bytes")
    both = over(by_socket, by_core, key).drop_nulls("ratio")
    found = distances(both, pl.Expr.median)
    missing = {*claim.algorithms, *claim.among} - set(found)
    if missing:
        raise LackingTimesError(f"no times both by core and by socket of {', '.join(sorted(missing))}")
    cases = []
    for label, each in sorted(found.items()):
        matters = True if each.least > log(SLOWER) else False if each.most <= log(SLOWER) else None
        wanted = label in claim.algorithms
        low, high = (None if bound is None else exp(bound) for bound in (each.low, each.high))
        cases.append(Case(label, exp(each.value), low, high, None if matters is None else matters == wanted))
    return cases


def _ratio_to_default(line: str) -> Callable[[Claim], str]:
    return lambda claim: f"time over the default's {line.format(size=show_size(claim.bytes))}"


def _over_lowest(sizes: str) -> Callable[[Claim], str]:
    return lambda claim: (
        f"time {sizes.format(size=show_size(claim.bytes))} over the lowest of {', '.join(claim.among)}: at most "
        f"{FASTER}; up to {SLOWER} it is a tie"
    )


CHECKS = {
    "rises-after": Check(
        lambda claim: (
            f"time at the next size over the time at {show_size(claim.bytes)}: at least {RISE}, and more than the mean "
            "growth per doubling at smaller sizes"
        ),
        _rises_after,
    ),
    "jumps-at": Check(
        lambda claim: (
            f"time at {show_size(claim.bytes)} over the time at the size before: at least {RISE}, and more than the "
            "mean growth per doubling at smaller sizes"
        ),
        _jumps_at,
    ),
    "nearly-constant-to": Check(
        lambda claim: f"time at {show_size(claim.bytes)} over that at the smallest size: at most {NEARLY}",
        _nearly_constant_to,
    ),
    "nearest-to-default": Check(
        lambda claim: "mean of |ln(time / default's)|: the smallest of all fixed algorithms",
        _nearest_to_default,
    ),
    "rises-with-ranks": Check(lambda claim: f"time over that of half the ranks: at least {SLOWER}", _rises_with_ranks),
    "faster-than-default-from": Check(
        _ratio_to_default(f"from {{size}} on at most {FASTER}, below it more"), _faster_from
    ),
    "faster-than-default-above": Check(
        _ratio_to_default(f"above {{size}}: at most {FASTER}"), _sized(under, FASTER, pl.Expr.gt)
    ),
    "slower-than-default-up-to": Check(
        _ratio_to_default(f"up to {{size}}: at least {SLOWER}"), _sized(at_least, SLOWER, pl.Expr.le)
    ),
    "comparable-to-default-up-to": Check(
        _ratio_to_default(f"up to {{size}}: at most {COMPARABLE}"), _sized(under, COMPARABLE, pl.Expr.le)
    ),
    "best-from": Check(_over_lowest("from {size} on"), _best(pl.Expr.ge)),
    "best-up-to": Check(_over_lowest("up to {size}"), _best(pl.Expr.le)),
    "mapping-matters-only-for": Check(
        lambda claim: f"factor between times by socket and by core, median over points: over {SLOWER} for it alone",
        _mapping_matters_only_for,
    ),
}
"""By the names in published/studies.toml."""
