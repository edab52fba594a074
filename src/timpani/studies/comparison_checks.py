"""Checks of one algorithm compared with others at the same points."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import exp, log
from operator import ge, lt

import polars as pl

from timpani.studies.claim import (
    CURVE,
    FASTER,
    PLACE,
    SLOWER,
    Case,
    Check,
    Claim,
    MissingTimesError,
    cases_of,
    cases_of_faster,
    distances,
    ratios_to,
    require_cases,
    times_of,
)
from timpani.study.cell import DEFAULT
from timpani.study.placement import shuffle_seed
from timpani.study.words import counted

_COMPARABLE = 1.1
"""Maximum ratio of comparable times: averages of single runs differ by 10 % between runs."""

_BETWEEN_TWO = ("T_s", "T_c")
"""Operations without a schedule: the costs of a message between two ranks."""

_SIMILAR = 2.0
"""Maximum ratio of similar times: one doubling of the size, the grid of the studies' figures."""


def _ratios_to_competitors(claim: Claim, times: pl.DataFrame) -> pl.DataFrame:
    """The claimed algorithms' times over the lowest of their competitors'.

    On 2 ranks all fixed algorithms are the same schedule, one message. So they are compared on more ranks.
    """
    fixed = set(claim.competitors) - {DEFAULT}
    wanted = times.filter(pl.col("ranks") > 2) if fixed and claim.collective not in _BETWEEN_TWO else times
    competitors, own = times_of(wanted, claim.competitors), times_of(wanted, claim.algorithms)
    complete = pl.col("label").n_unique().over(PLACE) == len(set(claim.competitors))
    bounds = (pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).min()) for name in ("low_us", "high_us"))
    lowest = competitors.filter(complete).group_by(PLACE).agg(pl.min("time_us"), *bounds)
    rows = ratios_to(own, lowest, PLACE).drop_nulls("ratio").sort(*CURVE, "message_bytes")
    if rows.is_empty():
        raise MissingTimesError("no point at which it and its competitors were timed")
    return rows


def _faster(claim: Claim, times: pl.DataFrame) -> list[Case]:
    return cases_of_faster(_ratios_to_competitors(claim, times))


def _slower(claim: Claim, times: pl.DataFrame) -> list[Case]:
    return cases_of(_ratios_to_competitors(claim, times), lambda ratio: ratio >= SLOWER, lambda ratio: ratio <= FASTER)


def _comparable(claim: Claim, times: pl.DataFrame) -> list[Case]:
    return cases_of(_ratios_to_competitors(claim, times), lambda ratio: 1 / _COMPARABLE <= ratio <= _COMPARABLE)


def _most_similar(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """Two cases: whether it is the nearest of all fixed algorithms, and whether it is similar."""
    fixed = sorted(set(times["label"]) - {DEFAULT})
    (own,) = claim.algorithms
    times_of(times, [own, DEFAULT])
    if len(fixed) < 2:
        raise MissingTimesError("no other fixed algorithm")
    shared = ratios_to(times_of(times, fixed), times_of(times, [DEFAULT]), PLACE).drop_nulls("ratio")
    shared = shared.filter(pl.len().over(PLACE) == len(fixed))
    if shared.is_empty():
        raise MissingTimesError("no point at which all algorithms were timed")
    found = distances(shared, pl.Expr.mean)
    claimed = found.pop(own)
    nearest = True if all(claimed.most < each.least for each in found.values()) else None
    beaten = any(each.most <= claimed.least for each in found.values())
    others = ", ".join(f"{label} {each.value:.3f}" for label, each in sorted(found.items(), key=lambda e: e[1].value))
    points = counted(shared.height // len(fixed), "point")
    return [
        replace(claimed, where=f"nearest: {own} over {points}, next to {others}", holds=False if beaten else nearest),
        replace(claimed, where=f"similar: {own}, × {exp(claimed.value):.2g} on average").decided(
            partial(ge, log(_SIMILAR))
        ),
    ]


def _as_printed(digits: str, value: float) -> bool:
    """Whether `value` rounds to the number that the study printed, with the same number of decimals."""
    return round(value, len(digits.partition(".")[2])) == float(digits)


def _factor(claim: Claim, times: pl.DataFrame) -> list[Case]:
    rows = _ratios_to_competitors(claim, times)
    return [replace(case, holds=_as_printed(claim.printed, case.value)) for case in cases_of(rows, partial(ge, 1.0))]


def _time_difference(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """The difference of the two times instead of their ratio."""
    rows = _ratios_to_competitors(claim, times).to_dicts()
    return [
        Case(
            f"{row['label']} {row['time_us']:.3g} µs, next to {row['other_us']:.3g} µs",
            row["time_us"] - row["other_us"],
            None,
            None,
            _as_printed(claim.printed, row["time_us"] - row["other_us"]),
        )
        for row in rows
    ]


def _reference_text(claim: Claim) -> str:
    return "the default's" if not claim.among else f"the lowest of {', '.join(claim.among)}"


def _describe_ratio(line: str) -> Callable[[Claim], str]:
    return lambda claim: f"time over {_reference_text(claim)}: {line}"


COMPARISON_CHECKS = {
    "faster": Check(_describe_ratio(f"at most {FASTER}; up to {SLOWER} it is a tie"), _faster),
    "slower": Check(_describe_ratio(f"at least {SLOWER}; down to {FASTER} it is a tie"), _slower),
    "comparable": Check(_describe_ratio(f"within a factor of {_COMPARABLE}"), _comparable),
    "most-similar-to-default": Check(
        lambda claim: (
            f"mean of |ln(time / default's)|: the smallest of all fixed algorithms, and at most ln {_SIMILAR:g}"
        ),
        _most_similar,
    ),
    "factor": Check(
        lambda claim: f"time over {_reference_text(claim)}: rounds to {claim.printed}, as the study printed it", _factor
    ),
    "apart": Check(
        lambda claim: f"time less {_reference_text(claim)}, µs: rounds to {claim.printed}, as the study printed it",
        _time_difference,
    ),
}
"""By the names in published/conclusions.toml."""


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
"""By the names in published/conclusions.toml."""
