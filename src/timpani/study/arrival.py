"""Arrival patterns: how late each rank enters a collective."""

import re
from dataclasses import dataclass
from typing import Literal

from timpani.errors import UserError

TOGETHER = "together"
"""The pattern of ranks that enter at the same time."""

PATTERNS = ("together", "one_late:D", "sorted:D", "random:D")
"""`one_late`: the last rank enters D after the others. `sorted`: ranks enter at equal intervals, the last rank D after
rank 0. `random`: each rank is late by a time drawn anew for each call, uniform from 0 to D."""

_MAX_DELAY_NS = 10_000_000_000
_MAX_CALLS = 1000.0
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_DELAY = re.compile(r"(one_late|sorted|random):(\d{1,9}(?:\.\d{1,9})?)(ns|us|ms|s|x)", re.ASCII)


@dataclass(frozen=True)
class ArrivalPattern:
    """A pattern with a delay.

    delay     of the latest rank: whole nanoseconds, or a multiple of the time of the library's default call
    in_calls  which of the two
    """

    name: Literal["one_late", "sorted", "random"]
    delay: float
    in_calls: bool

    @classmethod
    def parse(cls, text: str) -> "ArrivalPattern | None":
        """Read `one_late:50us` or `sorted:2x`; None of `together`; UserError if it is no pattern."""
        if text == TOGETHER:
            return None
        if match := _DELAY.fullmatch(text):
            in_calls = match[3] == "x"
            delay = float(match[2]) if in_calls else round(float(match[2]) * _NS[match[3]])
            if 0 < delay <= (_MAX_CALLS if in_calls else _MAX_DELAY_NS):
                return cls(match[1], delay, in_calls)  # type: ignore[arg-type]
        raise UserError(
            f"{text!r} is not an arrival pattern",
            f"write {', '.join(PATTERNS)}; D is a time such as 50us, up to 10s, or 2x the call's own time",
        )

    def __str__(self) -> str:
        if self.in_calls:
            return f"{self.name}:{self.delay:g}x"
        unit = max((unit for unit in _NS if self.delay % _NS[unit] == 0), key=_NS.__getitem__)
        return f"{self.name}:{int(self.delay) // _NS[unit]}{unit}"


def check_arrival(text: str) -> str:
    """The pattern as it is recorded, so that one pattern has one text; UserError for other text."""
    text = text.strip()
    found = ArrivalPattern.parse(text)
    return str(found) if found else text
