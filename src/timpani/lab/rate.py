"""Rates of links as tc writes them: `1gbit`, `250mbit`, `2.5gbit`."""

import re

from timpani.errors import UserError

_UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}  # tc's units: decimal, bits per second
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)\s*(kbit|mbit|gbit)", re.ASCII | re.IGNORECASE)
_MIN, _MAX = 10**5, 10**11  # below, TCP connections fail; above, Linux can't forward


def parse_rate(text: str) -> int:
    """Bits per second of `text`."""
    match = _RATE.fullmatch(text.strip())
    if not match:
        raise UserError(f"{text!r} is not a rate", "write for example 1gbit, 2.5gbit or 250mbit")
    rate = round(float(match[1]) * _UNITS[match[2].lower()])
    if not _MIN <= rate <= _MAX:
        raise UserError(f"a link of {text} can't be made", f"choose {show_rate(_MIN)} to {show_rate(_MAX)}")
    return rate


def show_rate(rate: int) -> str:
    """The rate in the largest unit with a value of at least 1: `2.5gbit`."""
    unit = max((unit for unit, factor in _UNITS.items() if rate >= factor), key=_UNITS.__getitem__)
    return f"{rate / _UNITS[unit]:.12g}{unit}"
