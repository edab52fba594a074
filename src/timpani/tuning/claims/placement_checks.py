"""Checks of one placement of the ranks compared with another."""

from functools import partial
from math import exp
from operator import ge, lt

import polars as pl

from timpani.study.placement import shuffle_seed
from timpani.tuning.claims.claim import (
    CURVE,
    FASTER,
    SLOWER,
    Case,
    Check,
    Claim,
    MissingTimesError,
    cases_of_faster,
    distances,
    ratios_to,
    require_cases,
    times_of,
)

_SAME_BUT_PLACED = ("collective", "label", "ranks", "mode", "machine", "message_bytes")


def _faster_placed(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """Times with the first placement over times with the second."""
    first, second = (times_of(times, claim.algorithms).filter(placement=each) for each in claim.placements)
    rows = ratios_to(first, second, _SAME_BUT_PLACED).drop_nulls("ratio").sort(*CURVE, "message_bytes")
    cases = cases_of_faster(rows)
    return require_cases(cases, f"no times placed by both {' and '.join(claim.placements)}")


def _faster_shuffled(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """Times on host files with shuffled groups over times on the same host file in the machine's order."""
    own = times_of(times, claim.algorithms)
    is_shuffled = pl.col("placement").map_elements(lambda each: shuffle_seed(each) is not None, return_dtype=pl.Boolean)
    shuffled, ordered = own.filter(is_shuffled), own.filter(~is_shuffled)
    if shuffled.is_empty() or ordered.is_empty():
        raise MissingTimesError("no times on host files both shuffled and in the machine's order")
    bare = pl.col("placement").str.replace(r"^(category:\d+:\d+):\d+$", "$1").alias("bare")
    on = (*_SAME_BUT_PLACED, "bare")
    rows = ratios_to(shuffled.with_columns(bare), ordered.with_columns(bare), on).drop_nulls("ratio")
    cases = cases_of_faster(rows.sort(*CURVE, "message_bytes"))
    return require_cases(cases, "no host file was measured both shuffled and in the machine's order")


def _mapping_matters_only_for(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each algorithm, the median over points of |ln(time with one placement / with the other)|, as a factor."""
    labels = [*claim.algorithms, *claim.among]
    first, second = (times_of(times, labels).filter(placement=placement) for placement in claim.placements)
    found = distances(ratios_to(second, first, _SAME_BUT_PLACED).drop_nulls("ratio"), pl.Expr.median)
    if missing := set(labels) - set(found):
        raise MissingTimesError(f"no times both by core and by socket of {', '.join(sorted(missing))}")
    cases = []
    for label, each in sorted(found.items()):
        low, high = (None if bound is None else exp(bound) for bound in (each.low, each.high))
        holds = partial(lt if label in claim.algorithms else ge, SLOWER)  # the factor is larger, or it is not
        cases.append(Case(label, exp(each.value), low, high).decided(holds))
    return cases


PLACEMENT_CHECKS = {
    "faster-placed": Check(
        lambda claim: f"time by {claim.placements[0]} over that by {claim.placements[1]}: at most {FASTER}",
        _faster_placed,
    ),
    "faster-shuffled": Check(
        lambda claim: (
            f"time with shuffled groups over that in the machine's order: at most {FASTER}; up to {SLOWER} it is a tie"
        ),
        _faster_shuffled,
    ),
    "mapping-matters-only-for": Check(
        lambda claim: (
            f"factor between times by {claim.placements[1]} and by {claim.placements[0]}, median over points: over "
            f"{SLOWER} only for the claimed algorithms"
        ),
        _mapping_matters_only_for,
    ),
}
"""By the names in published/studies.toml."""
