"""Sizes in bytes as people write them: `8`, `64K`, `1:1M` (doubling), `1:4K+512` (equal steps), `1,8,64`."""

import re
from collections.abc import Collection, Iterator
from functools import reduce
from itertools import count, pairwise, takewhile
from math import gcd

from timpani.errors import UserError

# As GNU's coreutils read them: K, M and G with or without `i` are powers of 1024, as MPI benchmarks print sizes; a bare
# B behind the letter makes them powers of 1000.
_BINARY = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(
    r"(?P<number>\d{1,18})\s*(?:(?P<decimal>[kKMGT])B|(?P<binary>[kKMGT]?)(?:(?<=[kKMGT])iB?)?|B)", re.ASCII
)
_RANGE = re.compile(r"(?P<first>[^:]*):(?P<last>[^+*]*)(?:(?P<sign>[+*])(?P<step>.*))?", re.DOTALL)
LARGEST = 2**31 - 1  # rank counts and parameters of algorithms are C ints
LARGEST_SIZE = 2**40  # bytes, which are 64 bits wide; which counts an MPI call can pass is checked for each cell
_MAX_SIZES = 100_000  # sizes in a range: more was hardly meant, and would fill the memory


SIZE = "size"
RANK_COUNT = "rank count"
MAX_RANKS = "number of ranks"
VALUE = "value"
_EXAMPLES = {
    SIZE: "write bytes, for example 8, 64K or 1:1M (K, M, G, T: powers of 1024)",
    RANK_COUNT: "write for example 2,4,8 or 2:48+2",
    MAX_RANKS: "write the largest alone, for example 4096: it includes smaller ones",
    VALUE: "write for example 4K:256K*4 or 2:8",
}


def parse_size(text: str, noun: str = SIZE) -> int:
    """Bytes of `text`: `512`, `64K` or `64KiB` (2¹⁰), `64KB` (10³); M, G and T likewise. Errors call it a `noun`."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UserError(f"{text!r} is not a {noun}", _EXAMPLES[noun])
    if match["decimal"]:
        size = int(match["number"]) * _DECIMAL[match["decimal"].lower()]
    else:
        size = int(match["number"]) << _BINARY[(match["binary"] or "").lower()]
    largest = LARGEST_SIZE if noun == SIZE else LARGEST
    if size > largest:
        limit = show_size(largest) if noun == SIZE else largest
        raise UserError(f"{noun} {text} is over {limit}", "choose a smaller one")
    return size


def parse_sizes(text: str, noun: str = SIZE) -> tuple[int, ...]:
    """All sizes of a comma-separated list of sizes and ranges, ascending, each once.

    `FIRST:LAST` doubles from FIRST, `FIRST:LAST*K` multiplies by K, `FIRST:LAST+STEP` adds STEP. LAST is always among
    them, also where the series passes over it.
    """
    sizes: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        sizes.update(_series(part, match, noun) if match else [parse_size(part, noun)])
        if len(sizes) > _MAX_SIZES:
            raise UserError(f"{text!r} is more than {_MAX_SIZES} {noun}s", "choose fewer")
    return tuple(sorted(sizes))


def _series(part: str, match: re.Match[str], noun: str) -> Iterator[int]:
    first, last = parse_size(match["first"], noun), parse_size(match["last"], noun)
    adds = match["sign"] == "+"
    step = parse_size(match["step"], noun) if match["sign"] else 2
    if last < first:
        raise UserError(f"{part!r} runs downwards", "write FIRST:LAST with FIRST ≤ LAST")
    if step < 1 or (not adds and (step < 2 or first < 1)):
        raise UserError(f"{part!r} doesn't increase", "start at 1 or more and step by ×2 or more, or by +1 or more")
    if adds and (last - first) // step >= _MAX_SIZES:
        raise UserError(f"{part!r} is more than {_MAX_SIZES} {noun}s", "choose a larger step")
    size = first
    while size < last:
        yield size
        size = size + step if adds else size * step
    yield last


def show_sizes(sizes: Collection[int]) -> str:
    """`8 B`, or `21 sizes from 1 B to 1 MiB`."""
    if len(sizes) == 1:
        return show_size(next(iter(sizes)))
    return f"{len(sizes)} sizes from {show_size(min(sizes))} to {show_size(max(sizes))}"


def show_size(size: int) -> str:
    """`1 B`, `64 KiB`, `1 MiB`: the largest binary unit that divides `size`."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


DOUBLING, STEPS, BOTH = "doubling", "steps", "both"
"""A size of the series that doubles, of the one in equal steps, of both."""

_MIN_SIZES = 4
"""Sizes that a series in equal steps has at least: fewer may lie so by chance."""


def size_series(sizes: Collection[int]) -> dict[int, str]:
    """The series of each size where some double and others come in equal steps between them; else empty."""
    measured = set(sizes)
    start = min((size for size in measured if size > 0), default=1)
    others = sorted(size for size in measured if not _doubles(start, size))
    if len(others) < 2:
        return {}
    step = reduce(gcd, (after - before for before, after in pairwise(others)))
    steps = {
        *range(others[0], others[-1] + 1, step),
        *takewhile(measured.__contains__, count(others[0], -step)),
        *takewhile(measured.__contains__, count(others[-1], step)),
    }
    if not steps <= measured or len(steps) < _MIN_SIZES or steps == measured:
        return {}
    return {
        size: DOUBLING if size not in steps else BOTH if _doubles(start, size) else STEPS for size in sorted(measured)
    }


def _doubles(start: int, size: int) -> bool:
    """Whether `size` is `start` doubled any number of times, or 0."""
    quotient, rest = divmod(size, start)
    return not rest and quotient & (quotient - 1) == 0
