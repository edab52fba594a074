"""How numbers are said: counts, shares, times, numbers with few digits, intervals and lists; sizes: `sizes.py`."""

from collections.abc import Callable, Sequence
from math import floor, isfinite, log10

UNKNOWN = "–"
"""What stands in the place of an unknown number."""


def counted(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`, `2 launches`: `noun` is a regular one, in the singular."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


MIN_PER_CENT = 0.01
"""Smallest share that `per_cent` prints as a number, in per cent."""


def per_cent(share: float) -> str:
    """`5 %`, `2.5 %`: `share` with at most three digits; `under 0.01 %` where it is smaller and not 0."""
    small = 0 < 100 * share < MIN_PER_CENT
    return f"under {MIN_PER_CENT:g} %" if small else f"{100 * share:.3g} %"


_HOUR = 3600
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY


def show_range(low: float, high: float) -> str:
    """`20 s to 1 min 10 s`; `about 20 s` where both ends read the same."""
    ends = dict.fromkeys((show_seconds(low), show_seconds(high)))
    return " to ".join(ends) if len(ends) > 1 else f"about {show_seconds(low)}"


def show_seconds(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 5 min`: to two units; `3 days`, `40 years` where that is all that matters."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // 60} min {whole % 60} s".removesuffix(" 0 s")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // 60} min".removesuffix(" 0 min")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY} days"
    return f"{whole // _YEAR:,} years"


def significant(number: float, digits: int = 3) -> str:
    """A positive number with that many significant digits and no exponent: 0.5032 → `0.503`, 12345.6 → `12346`."""
    if number == 0:
        return "0"
    return f"{number:.{max(0, digits - 1 - floor(log10(abs(number))))}f}"


def four_digits(number: float) -> str:
    """Four significant digits, with an exponent for very large and very small numbers; a dash for what is unknown."""
    return f"{number:.4g}" if isfinite(number) else UNKNOWN


def three_decimals(number: float) -> str:
    """Three decimals below a million, since the clock counts nanoseconds; above, message rates need none. What three
    decimals would round away has three digits."""
    return f"{number:.3g}" if 0 < number < 0.01 else f"{number:.3f}" if number < 1e6 else f"{number:.0f}"


def two_decimals(number: float) -> str:
    """Two decimals, as OSU prints; below 1 three digits, of which two decimals would lose up to 5 %."""
    return f"{number:.2f}" if number >= 1 else significant(number)


def interval(low: float | None, high: float | None, show: Callable[[float], str] = significant) -> str:
    """`1.40 to 1.60`, or nothing without bounds."""
    return "" if low is None or high is None else f"{show(low)} to {show(high)}"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
