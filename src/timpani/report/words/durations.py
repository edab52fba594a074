"""Durations as a person reads them."""

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
        return f"{whole // 60} min {whole % 60} s"
    if whole < 2 * _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // 60} min"
    if whole < 2 * _YEAR:
        return f"{whole // _DAY} days"
    return f"{whole // _YEAR:,} years"
