"""The value of an I_MPI_ADJUST variable: `3:0-4095;0:4096-2147483647`, presets with ranges of bytes or of ranks.

How Intel MPI 2021.18 reads it was seen by presets whose times differ by factors, on 2 ranks:

- Bytes are counted as we count a collective's message: a block for allgather, alltoall, gather and scatter, the whole
  vector for reduce_scatter.
- Of a range only the upper end counts: the first entry whose upper end isn't below a call's size decides, whatever its
  lower end; beyond all upper ends the last entry does. So a call outside of all ranges is not left to the library.
- Preset 0 leaves its range to the library. A preset that doesn't exist does so too, without a word.
- With ranks (`@2-8`) the same holds for ranks, and sizes are ignored: of two entries with the same upper
  end of ranks the later replaces the earlier, even where their sizes differ.
- A value with any part that can't be read is ignored whole: `Incorrect adjust value … will be ignored`. One with blanks
  is, too, without a word.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from timpani.study.selection import Span
from timpani.study.sizes import LARGEST

_ENTRY = re.compile(
    r"(?P<preset>\d{1,9})"
    r"(?::(?P<first>\d{1,18})(?:-(?P<last>\d{1,18}))?(?:@(?P<fewest>\d{1,18})(?:-(?P<most>\d{1,18}))?)?)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Entry:
    """A preset with its ranges; None where it has none. Lower ends are as written, for those who look at it."""

    preset: int
    sizes: Span | None = None
    ranks: Span | None = None

    def __str__(self) -> str:
        if self.sizes is None:
            return str(self.preset)
        return f"{self.preset}:{_written(self.sizes)}" + (f"@{_written(self.ranks)}" if self.ranks else "")


def _written(span: Span) -> str:
    return f"{span.first}-{LARGEST if span.last is None else span.last}"


def parse_value(text: str) -> tuple[Entry, ...] | None:
    """The entries of a value; None where the library ignores it whole."""
    parts = text.removesuffix(";").split(";")
    matches = [_ENTRY.fullmatch(part) for part in parts]
    found = [match for match in matches if match]
    return tuple(map(_entry, found)) if len(found) == len(parts) else None


def _entry(match: "re.Match[str]") -> Entry:
    return Entry(int(match["preset"]), _span(match["first"], match["last"]), _span(match["fewest"], match["most"]))


def _span(first: str | None, last: str | None) -> Span | None:
    return None if first is None else Span(int(first), int(last or first))


def chosen_preset(entries: Sequence[Entry], ranks: int, message_bytes: int) -> int:
    """The preset that the library takes for a call; 0: it decides itself."""
    if any(entry.ranks for entry in entries):
        by_end = {_end(entry.ranks): entry for entry in entries}
        return _first_reaching(by_end.items(), ranks)
    return _first_reaching(((_end(entry.sizes), entry) for entry in entries), message_bytes)


def _end(span: Span | None) -> int:
    return LARGEST if span is None or span.last is None else span.last


def _first_reaching(entries: Iterable[tuple[int, Entry]], number: int) -> int:
    preset = 0
    for end, entry in entries:
        preset = entry.preset
        if end >= number:
            break
    return preset
