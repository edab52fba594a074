"""The kinds of conclusions: what the value of a case is, and which values confirm.

Most values are ratios of two times: of an algorithm to another, of a size or rank count to a smaller one, of a
placement to another.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
import polars as pl

from timpani.errors import unknown
from timpani.stats.compare import INDIFFERENCE
from timpani.studies.claim import MESSAGE_COSTS, Case, Check, Claim, Line, MissingTimesError
from timpani.study.cell import DEFAULT, UNPLACED, shuffle_seed
from timpani.study.sizes import show_size
from timpani.study.words import counted

CURVE = ("collective", "label", "ranks", "placement", "mode", "machine")
"""Columns that all times of one curve over sizes share."""

PLACE = ("collective", "ranks", "placement", "mode", "machine", "message_bytes")
"""The point at which algorithms are compared."""

FASTER, SLOWER = INDIFFERENCE
"""Ratios beyond which an algorithm is faster or slower: smaller differences make none to a user."""

_COMPARABLE = 1.1
"""Maximum ratio of comparable times: averages of single runs differ by 10 % between runs."""

_PROPORTIONAL = 2.0
"""Growth of the time over one doubling of the size, if time were proportional to size."""

_HALF = _PROPORTIONAL**0.5
"""Half of a proportional slope on log axes: a growth that about doubles is nearer to doubling than to none."""

_MILD = _PROPORTIONAL**0.25
"""A mild slope is at most a quarter of a proportional one on log axes: by 8 from 1 B to 4 KiB."""

_JUMP = 1.25
"""A switch of protocol exceeds the straight line through the next sizes by a quarter: more than the difference
between averages of single runs."""

_SIMILAR = 2.0
"""Maximum ratio of similar times: one doubling of the size, the grid of the studies' figures."""

_NEAR_THE_FORMULA = 2.0
_SHARE = 0.95
"""A formula describes the times if its error is below one doubling of the size at this share of the points."""

_MORE = 1 + 1e-9
"""More than 1 by more than rounding."""

_FASTER = Line(high=FASTER, tie=SLOWER / FASTER)
_SLOWER = Line(low=SLOWER, tie=SLOWER / FASTER)
_RISES = Line(low=_MORE, tie=_MORE**2)
_FALLS = Line(high=1 / _MORE, tie=_MORE**2)


def _as_printed(claim: Claim) -> Line:
    """The values that round to the number that the study printed, with the same number of decimals."""
    half = 0.5 * 10.0 ** -len(claim.printed.partition(".")[2])
    value = float(claim.printed)
    return Line(value - half, value + half)


def _times_of(times: pl.DataFrame, labels: tuple[str, ...]) -> pl.DataFrame:
    """The times of these algorithms; MissingTimesError names the algorithms without times."""
    if missing := sorted(set(labels) - set(times["label"])):
        raise MissingTimesError(f"no times of {', '.join(missing)}")
    return times.filter(pl.col("label").is_in(labels))


def _ratios(times: pl.DataFrame, others: pl.DataFrame, on: tuple[str, ...]) -> pl.DataFrame:
    """`times` with the column `ratio` to the other time at the same `on`, and `ratio_low` and `ratio_high`.

    A bound divides one interval's end by the other's opposite end, so that the bounds are conservative.
    """
    renamed = others.select(*on, other_us="time_us", least_us="low_us", most_us="high_us")
    return (
        times.join(renamed, on=on, maintain_order="left")
        .with_columns(
            (pl.col("time_us") / pl.col("other_us")).alias("ratio"),
            (pl.col("low_us") / pl.col("most_us")).alias("ratio_low"),
            (pl.col("high_us") / pl.col("least_us")).alias("ratio_high"),
        )
        .sort(*CURVE, "message_bytes")
    )


def _cases(rows: pl.DataFrame, line: Line | Callable[[dict[str, Any]], Line], part: str = "") -> list[Case]:
    """A case for each row of `_ratios`."""
    return [
        Case(
            _point_name(row),
            *(row["ratio"], row["ratio_low"], row["ratio_high"]),
            line if isinstance(line, Line) else line(row),
            row["ranks"],
            row["message_bytes"],
            part,
        )
        for row in rows.to_dicts()
    ]


def _point_name(row: dict[str, Any]) -> str:
    before = f"{row['before']} to " if "before" in row else ""
    parts = [] if row["label"] == DEFAULT else [row["label"]]
    parts += [before + counted(row["ranks"], "rank"), *([] if row["placement"] == UNPLACED else [row["placement"]])]
    return ", ".join([*parts, *([show_size(row["message_bytes"])] if row["message_bytes"] else [])])


def _over_competitors(claim: Claim, times: pl.DataFrame) -> pl.DataFrame:
    """The claimed algorithms' times over the lowest of their competitors'.

    On 2 ranks all fixed algorithms are the same schedule, one message. So they are compared on more ranks.
    """
    fixed = set(claim.competitors) - {DEFAULT}
    wanted = times.filter(pl.col("ranks") > 2) if fixed and claim.collective not in MESSAGE_COSTS else times
    competitors, own = _times_of(wanted, claim.competitors), _times_of(wanted, claim.algorithms)
    complete = pl.col("label").n_unique().over(PLACE) == len(set(claim.competitors))
    bounds = (pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).min()) for name in ("low_us", "high_us"))
    return _ratios(own, competitors.filter(complete).group_by(PLACE).agg(pl.min("time_us"), *bounds), PLACE)


def _less_competitors(claim: Claim, times: pl.DataFrame) -> pl.DataFrame:
    """The difference of the two times in place of their ratio."""
    difference = (pl.col("time_us") - pl.col("other_us")).alias("ratio")
    return _over_competitors(claim, times).with_columns(difference, ratio_low=None, ratio_high=None)


def _compared(
    line: Line | Callable[[Claim], Line], rows: Callable[[Claim, pl.DataFrame], pl.DataFrame] = _over_competitors
) -> Callable[[Claim, pl.DataFrame], list[Case]]:
    """Cases from `rows`, which compare times with the competitors' at the same points."""
    return lambda claim, times: _cases(rows(claim, times), line if isinstance(line, Line) else line(claim))


def _apart() -> dict[str, pl.Expr]:
    """|ln ratio| and its bounds in rows of `_ratios`; the lower one is 0 if the ratio's lie on both sides of 1."""
    value, low, high = (pl.col(name).log() for name in ("ratio", "ratio_low", "ratio_high"))
    least = pl.when(low.sign() == high.sign()).then(pl.min_horizontal(low.abs(), high.abs())).otherwise(0.0)
    most = pl.max_horizontal(low.abs(), high.abs())
    ends = (pl.when(low.is_not_null()).then(each) for each in (least, most))
    return dict(zip(("ratio", "ratio_low", "ratio_high"), (value.abs(), *ends), strict=True))


def _distances(rows: pl.DataFrame) -> dict[str, tuple[float, float | None, float | None]]:
    """The distance of each label in rows of `_ratios`: the mean of |ln ratio| over its points, with bounds."""
    value, *ends = (each.mean().alias(name) for name, each in _apart().items())
    bounded = pl.col("ratio_low").is_not_null().all()
    found = rows.group_by("label").agg(value, *(pl.when(bounded).then(end) for end in ends))
    return {label: (value, low, high) for label, value, low, high in found.iter_rows()}


def _from_default(claim: Claim, times: pl.DataFrame, nearest: bool) -> list[Case]:
    """Whether it is the nearest of all fixed algorithms to the default, or the farthest; and the nearest is similar."""
    fixed = tuple(sorted(set(times["label"]) - {DEFAULT}))
    (own,) = claim.algorithms
    _times_of(times, (own, DEFAULT))
    shared = _ratios(_times_of(times, fixed), _times_of(times, (DEFAULT,)), PLACE)
    shared = shared.filter(pl.len().over(PLACE) == len(fixed))
    if shared.is_empty() or len(fixed) < 2:
        return []
    found = _distances(shared)
    claimed = found.pop(own)
    select = min if nearest else max
    rival = [None if None in ends else select(ends) for ends in zip(*found.values(), strict=True)]
    over, under = (rival, claimed) if nearest else (claimed, rival)
    value, low, high = (
        None if top is None or bottom is None else top / bottom if bottom else float("inf")
        for top, bottom in ((over[0], under[0]), (over[1], under[2]), (over[2], under[1]))
    )
    assert value is not None
    others = ", ".join(f"{label} {each:.3g}" for label, (each, *_) in sorted(found.items(), key=lambda e: e[1][0]))
    where = f"{own} {claimed[0]:.3g}, next to {others}, over {counted(shared.height // len(fixed), 'point')}"
    cases = [Case(f"{'nearest' if nearest else 'farthest'}: {where}", value, low, high, _RISES)]
    if nearest and cases[0].holds is not False:
        average, least, most = (None if each is None else exp(each) for each in claimed)
        assert average is not None
        cases.append(Case(f"similar: {own} on average", average, least, most, Line(high=_SIMILAR)))
    return cases


def _sized(claim: Claim, times: pl.DataFrame) -> pl.DataFrame:
    return _times_of(times, claim.algorithms).filter(pl.col("message_bytes") > 0)


def _growth(claim: Claim, times: pl.DataFrame) -> pl.DataFrame:
    """At each size the time over that at half of the size."""
    sized = _sized(claim, times)
    return _ratios(sized, sized.with_columns(pl.col("message_bytes") * 2), (*CURVE, "message_bytes"))


def _rises_sharply_after(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the growth over the doubling that begins at the claim's size."""
    before = pl.col("ratio").filter(pl.col("message_bytes") <= claim.bytes).max().over(CURVE)
    growth = _growth(claim, times).with_columns(earlier=before)
    there = growth.filter(pl.col("earlier").is_not_null(), message_bytes=2 * claim.bytes)
    return _cases(there, lambda row: Line(low=_MORE * max(_PROPORTIONAL, row["earlier"])))


def _mild_slope(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the mean growth per doubling from its smallest size to the largest in scope."""
    sized = _sized(claim, times)
    first = sized.filter(pl.col("message_bytes") == pl.col("message_bytes").min().over(CURVE))
    last = sized.filter(message_bytes=claim.to_bytes).join(first.select(*CURVE, first="message_bytes"), on=CURVE)
    doublings = (pl.col("message_bytes") / pl.col("first")).log(2)
    per_doubling = pl.col("ratio", "ratio_low", "ratio_high") ** (1 / doublings)
    rows = _ratios(last.filter(doublings >= 1), first, CURVE).with_columns(per_doubling)
    return _cases(rows, Line(high=_MILD))


def _jumps_within(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """For each curve, the largest jump: a time over the value of the straight line through the next two sizes.

    For a line `a + b·n`, the time at 2n is the time at n plus half of the increase over the next doubling.
    """
    sized = _sized(claim, times)
    on = (*CURVE, "message_bytes")
    half, double = (
        sized.select(
            *CURVE,
            size.alias("message_bytes"),
            *(pl.col(f"{end}_us").alias(f"{end}_{name}") for end in ("time", "low", "high")),
        )
        for name, size in (("half", pl.col("message_bytes") * 2), ("double", pl.col("message_bytes") // 2))
    )
    rows = sized.filter(pl.col("message_bytes") <= claim.bytes).join(half, on=on).join(double, on=on)
    jumps = rows.with_columns(
        _over_line("time", "time").alias("ratio"),
        _over_line("low", "high").alias("ratio_low"),
        _over_line("high", "low").alias("ratio_high"),
    )
    largest = [
        pl.when(pl.col(name).is_not_null().all().over(CURVE)).then(pl.col(name).max().over(CURVE)).alias(name)
        for name in ("ratio_low", "ratio_high")
    ]
    rows = jumps.with_columns(largest).filter(pl.col("ratio") == pl.col("ratio").max().over(CURVE)).unique(CURVE)
    return _cases(rows.sort(*CURVE), Line(low=_JUMP))


def _over_line(time: str, line: str) -> pl.Expr:
    """A time over the line through its half and its double, of the ends of their intervals that are named."""
    rise = (pl.col(f"{line}_double") - pl.col(f"{time}_us")).clip(0)
    return pl.col(f"{time}_us") / (pl.col(f"{line}_half") + rise / 2)


def _with_ranks(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """At each size the steps between rank counts: rises are one part of the claim, falls the other."""
    own = _times_of(times, claim.algorithms)
    cases: list[Case] = []
    for part, counts, line in (("rises", claim.rises, _RISES), ("falls", claim.falls, _FALLS)):
        steps = dict(pairwise(counts))
        fewer = own.filter(pl.col("ranks").is_in(steps)).with_columns(before="ranks")
        fewer = fewer.with_columns(pl.col("ranks").replace_strict(steps, default=None, return_dtype=own["ranks"].dtype))
        on = (*CURVE, "message_bytes")
        rows = _ratios(own.join(fewer.select(*on, "before"), on=on), fewer, on)
        cases += _cases(rows, line, part)
    return cases


def _log_linear(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """One case: the factor by which the study's log2 t = b1·ranks + b2·log2 n is wrong at the share of points."""
    own = _sized(claim, times)
    if own.height < 3:
        return []
    logs = np.log2(own["time_us"].to_numpy())
    design = np.column_stack([own["ranks"].to_numpy(), np.log2(own["message_bytes"].to_numpy())])
    residuals = np.abs(logs - design @ np.linalg.lstsq(design, logs, rcond=None)[0])
    worst = own.row(int(np.argmax(residuals)), named=True)
    where = f"{counted(own.height, 'point')}; at most {2 ** residuals.max():.3g} ({_point_name(worst)})"
    value = float(2 ** np.quantile(residuals, _SHARE))
    return [Case(where, value, None, None, Line(high=_NEAR_THE_FORMULA))]


_SAME_BUT_PLACED = ("collective", "label", "ranks", "mode", "machine", "message_bytes")


def _over_placed(times: pl.DataFrame, labels: tuple[str, ...], first: str, second: str) -> pl.DataFrame:
    """Times with the first placement over times with the second."""
    own = _times_of(times, labels)
    return _ratios(own.filter(placement=first), own.filter(placement=second), _SAME_BUT_PLACED)


def _mapping_matters_only_for(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """The factor between the times of both placements at each point; each algorithm is a part of the claim."""
    cases: list[Case] = []
    for label in (*claim.algorithms, *claim.among):
        rows = _over_placed(times, (label,), claim.placements[1], claim.placements[0])
        factors = rows.with_columns(each.exp().alias(name) for name, each in _apart().items())
        if rows.is_empty():
            raise MissingTimesError(f"no times of {label} placed by both {' and '.join(claim.placements)}")
        line = Line(low=_MORE * SLOWER) if label in claim.algorithms else Line(high=SLOWER)
        cases += _cases(factors, line, label)
    return cases


def _faster_shuffled(claim: Claim, times: pl.DataFrame) -> list[Case]:
    """Times on host files with shuffled groups over times on the same host file in the machine's order."""
    own = _times_of(times, claim.algorithms)
    is_shuffled = pl.col("placement").map_elements(lambda each: shuffle_seed(each) is not None, return_dtype=pl.Boolean)
    bare = own.with_columns(bare=pl.col("placement").str.replace(r"^(category:\d+:\d+):\d+$", "$1"))
    rows = _ratios(bare.filter(is_shuffled), bare.filter(~is_shuffled), (*_SAME_BUT_PLACED, "bare"))
    return _cases(rows, _FASTER)


_FASTER_WORDS = f"at most {FASTER}; up to {SLOWER} it is a tie"
_PRINTED_WORDS = "rounds to {0.printed}, as the study printed it"

CHECKS = {
    "faster": Check(f"time over {{others}}: {_FASTER_WORDS}", _compared(_FASTER), competes=True),
    "slower": Check(
        f"time over {{others}}: at least {SLOWER}; down to {FASTER} it is a tie", _compared(_SLOWER), competes=True
    ),
    "not-slower": Check(f"time over {{others}}: at most {SLOWER}", _compared(Line(high=SLOWER)), competes=True),
    "comparable": Check(
        f"time over {{others}}: within a factor of {_COMPARABLE}",
        _compared(Line(1 / _COMPARABLE, _COMPARABLE)),
        competes=True,
    ),
    "factor": Check(f"time over {{others}}: {_PRINTED_WORDS}", _compared(_as_printed), competes=True),
    "apart": Check(
        f"time less {{others}}, µs: {_PRINTED_WORDS}", _compared(_as_printed, _less_competitors), competes=True
    ),
    "most-similar-to-default": Check(
        "mean of |ln(time / default's)|: that of the next fixed algorithm is over 1 times as large; and the time is on "
        f"average within a factor of {_SIMILAR:g}",
        partial(_from_default, nearest=True),
        competes=True,
    ),
    "least-similar-to-default": Check(
        "mean of |ln(time / default's)|: over 1 times that of every other fixed algorithm",
        partial(_from_default, nearest=False),
        competes=True,
    ),
    "rises-sharply-after": Check(
        f"growth from {{size}} to twice that size: faster than proportional (over {_PROPORTIONAL:g}), and more than at "
        "every smaller doubling",
        _rises_sharply_after,
    ),
    "about-doubles": Check(
        f"growth over each doubling of the size: {_HALF:.2f} to {_PROPORTIONAL * _HALF:.2f}",
        lambda claim, times: _cases(_growth(claim, times), Line(_HALF, _PROPORTIONAL * _HALF)),
    ),
    "mild-slope": Check(
        f"mean growth per doubling up to {{end}}: at most {_MILD:.2f}, a quarter of a proportional slope on log axes",
        _mild_slope,
    ),
    "jumps-within": Check(
        "largest ratio of a time up to {size} to the line from half its size with the slope up to twice its size: at "
        f"least {_JUMP}",
        _jumps_within,
    ),
    "with-ranks": Check(
        "at each size and step of rank counts, the time over that on fewer ranks: more than 1 where it should rise, "
        "less than 1 where it should fall",
        _with_ranks,
    ),
    "log-linear": Check(
        f"factor by which log2 t = b1·ranks + b2·log2 n is wrong at {_SHARE:.0%} of the points: at most "
        f"{_NEAR_THE_FORMULA:g}, one doubling",
        _log_linear,
    ),
    "faster-placed": Check(
        f"time by {{0.placements[0]}} over that by {{0.placements[1]}}: {_FASTER_WORDS}",
        lambda claim, times: _cases(_over_placed(times, claim.algorithms, *claim.placements), _FASTER),
    ),
    "faster-shuffled": Check(
        f"time with shuffled groups over that in the machine's order: {_FASTER_WORDS}", _faster_shuffled
    ),
    "mapping-matters-only-for": Check(
        f"factor between times by {{0.placements[1]}} and by {{0.placements[0]}} at each point: over {SLOWER} for the "
        "claimed algorithms, at most that for each other one",
        _mapping_matters_only_for,
    ),
}
"""By the names in files of conclusions."""


def check_of(claim: Claim) -> Check | None:
    """The kind of the conclusion; None where nothing can check it. UserError for a kind that does not exist."""
    if claim.check and claim.check not in CHECKS:
        raise unknown("check of a conclusion", claim.check, CHECKS, "docs/how-to/check-published-studies.md")
    return CHECKS.get(claim.check)
