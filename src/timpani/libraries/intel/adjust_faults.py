"""What an I_MPI_ADJUST variable seems to say and the library understands otherwise: see adjust.py."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from timpani.libraries.intel.adjust import LARGEST, Entry
from timpani.libraries.tuning_file import Fault
from timpani.tuning.decide.selection_table import Span


def entry_faults(line: int, entries: Sequence[Entry], presets: Sequence[int]) -> Iterator[Fault]:
    """The faults of one variable's value; `presets` are those that the library has."""
    for entry in entries:
        if entry.preset and entry.preset not in presets:
            what = f"preset {entry.preset}, where there are {min(presets)} to {max(presets)}"
            yield Fault("error", line, what, "the library takes its default, without a word", "correct it")
    by_ranks = any(entry.ranks for entry in entries)
    if by_ranks and any(entry.sizes not in (None, Span(0, LARGEST)) for entry in entries):
        what = "sizes in addition to ranks"
        yield Fault("error", line, what, "the library ignores sizes: each entry holds for all of them", "use only one")
    span_of: Callable[[Entry], Span | None] = (lambda each: each.ranks) if by_ranks else (lambda each: each.sizes)
    unit = "ranks" if by_ranks else "bytes"
    yield from _ranges(line, [span_of(entry) or Span(0, LARGEST) for entry in entries], unit, by_ranks)


def _ranges(line: int, spans: Sequence[Span], unit: str, replaced: bool) -> Iterator[Fault]:
    """Only upper ends count, in the order of the entries."""
    for span in spans:
        if span.last is not None and span.last < span.first:
            what = f"the range {span.first}-{span.last} is reversed"
            yield Fault("warning", line, what, f"it ends at {span.last} {unit}", "write the smaller number first")
    if spans[0].first > 0:
        what = f"nothing is said below {spans[0].first} {unit}"
        consequence = "the first preset holds there too: only upper ends count"
        yield Fault("warning", line, what, consequence, f"begin with 0:0-{spans[0].first - 1}")
    for before, span in pairwise(spans):
        end, following = before.last or 0, span.last or 0
        if following <= end:
            again = replaced and following == end
            consequence = "it replaces the one before" if again else "it is never reached"
            what = f"a range that ends at {following} {unit} after one that ends at {end}"
            yield Fault("error", line, what, consequence, "put ranges in ascending order")
        elif span.first > end + 1:
            what = f"nothing is said from {end + 1} to {span.first - 1} {unit}"
            yield Fault("warning", line, what, "the preset after that holds there", f"say 0:{end + 1}-{span.first - 1}")
        elif span.first <= end:
            what = f"ranges overlap from {span.first} to {end} {unit}"
            yield Fault("warning", line, what, "the first one holds", "let each begin after the one before")
    end = max(span.last or 0 for span in spans)
    if end < LARGEST:
        what = f"nothing is said above {end} {unit}"
        consequence = "the last preset holds there too"
        yield Fault("warning", line, what, consequence, f"end with 0:{end + 1}-{LARGEST}")
