"""The value of UCC_TL_UCP_TUNE as UCC takes it apart."""

import re
from dataclasses import dataclass

from timpani.libraries.openmpi.ucc_rules.ucp_algorithms import NAMES
from timpani.study.selection import Span

INFINITE = 2**64 - 1
_MEMORY = ("host", "cuda", "cuda_managed", "rocm", "rocm_managed")
_SIZE = re.compile(r"(?P<digits>\d{1,18})(?P<unit>[kmgt]?)b?", re.IGNORECASE | re.ASCII)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class TuneToken:
    """One token; an empty tuple: the token does not restrict this.

    unreadable  the first part that UCC can't take for anything: it refuses the whole value
    """

    text: str
    collectives: tuple[str, ...] = ()
    sizes: tuple[Span, ...] = ()
    teams: tuple[Span, ...] = ()
    algorithm: str = ""
    score: str = ""
    unreadable: str = ""

    def fits(self, collective: str, ranks: int, size: int) -> bool:
        """Whether it decides calls of UCC's `collective`."""
        return (
            (not self.collectives or collective in self.collectives)
            and (not self.teams or any(ranks in each for each in self.teams))
            and (not self.sizes or any(_holds(each, size) for each in self.sizes))
        )


def _holds(sizes: Span, size: int) -> bool:
    """Whether UCC finds the range for `size`: it gives the first number to the range before, unless that is 0."""
    return size in sizes and (size > sizes.first or not sizes.first)


def parse_value(value: str) -> tuple[TuneToken, ...]:
    """The tokens of a value."""
    return tuple(map(_token, value.split("#")))


def _token(text: str) -> TuneToken:
    found: dict[str, object] = {}
    for part in text.strip().split(":"):
        kind, meaning = _part(part)
        if not kind or kind in found:
            return TuneToken(text, unreadable=part)
        found[kind] = meaning
    found.pop("memory", None)
    return TuneToken(text, **found)  # type: ignore[arg-type]


def _part(part: str) -> tuple[str, object]:
    """What a part is, and its meaning; "" for nothing that UCC knows."""
    words = part.lower().split(",")
    if all(word in NAMES for word in words):
        return "collectives", tuple(words)
    if all(word in _MEMORY for word in words):
        return "memory", ()
    if part.lower() == "inf" or _NUMBER.fullmatch(part):
        return "score", part.lower()
    if part.startswith("@") and len(part) > 1:
        return "algorithm", part[1:].lower()
    if part.startswith("[") and part.endswith("]"):
        teams = [_span(word, sized=False) for word in part[1:-1].split(",")]
        return ("teams", tuple(teams)) if all(teams) else ("", ())
    sizes = [_span(word, sized=True) for word in words]
    return ("sizes", tuple(sizes)) if all(sizes) else ("", ())


def _span(word: str, *, sized: bool) -> Span | None:
    """`FIRST-LAST`, of teams also one number; None where UCC refuses it, as it does a range of one size."""
    first, dash, last = word.partition("-")
    if not dash:
        number = None if sized else _number(first, sized)
        return None if number is None else Span(number, number)
    start, end = _number(first, sized), _number(last, sized)
    if start is None or end is None or end < start + sized:
        return None
    return Span(start, None if end == INFINITE else end)


def _number(word: str, sized: bool) -> int | None:
    if word.lower() == "inf":
        return INFINITE
    if not sized:
        return int(word) if _NUMBER.fullmatch(word) else None
    match = _SIZE.fullmatch(word)
    return int(match["digits"]) << _UNITS[match["unit"].lower()] if match else None
