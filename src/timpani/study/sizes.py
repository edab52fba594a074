"""Sizes in bytes as people write them: `8`, `64Ki`, `1:1Mi` (doubling), `1:4Ki+512` (equal steps), `1,8,64`."""

import re
from collections.abc import Collection, Iterator

from timpani.errors import UserError

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE = re.compile(r"(\d{1,18})\s*(Ki|Mi|Gi|k|M|G|)B?", re.ASCII)
_RANGE = re.compile(r"(?P<first>[^:]*):(?P<last>[^+*]*)(?:(?P<sign>[+*])(?P<step>.*))?", re.DOTALL)
LARGEST = 2**31 - 1  # counts are C ints in the MPI calls that we time
_MOST = 100_000  # sizes in a range: more was hardly meant, and would fill the memory


def parse_size(text: str) -> int:
    """Bytes of `text`: `512`, `64Ki` (2¹⁰), `1M` (10⁶); an optional `B` may follow."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UserError(f"{text!r} is no size", "write bytes, with k M G (10³…) or Ki Mi Gi (2¹⁰…)")
    size = int(match[1]) * _UNITS[match[2] or ""]
    if size > LARGEST:
        raise UserError(f"size {text} is over {LARGEST} bytes", "choose a smaller one")
    return size


def parse_sizes(text: str) -> tuple[int, ...]:
    """All sizes of a comma-separated list of sizes and ranges, ascending, each once.

    `FIRST:LAST` doubles from FIRST, `FIRST:LAST*K` multiplies by K, `FIRST:LAST+STEP` adds STEP. LAST is kept only
    where the series meets it.
    """
    sizes: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        sizes.update(_series(part, match) if match else [parse_size(part)])
    return tuple(sorted(sizes))


def _series(part: str, match: re.Match[str]) -> Iterator[int]:
    first, last = parse_size(match["first"]), parse_size(match["last"])
    adds = match["sign"] == "+"
    step = parse_size(match["step"]) if match["sign"] else 2
    if last < first:
        raise UserError(f"{part!r} runs downwards", "write FIRST:LAST with FIRST ≤ LAST")
    if step < 1 or (not adds and (step < 2 or first < 1)):
        raise UserError(f"{part!r} never grows", "start at 1 or more and step by ×2 or more, or by +1 or more")
    if adds and (last - first) // step >= _MOST:
        raise UserError(f"{part!r} is more than {_MOST} sizes", "choose a larger step")
    size = first
    while size <= last:
        yield size
        size = size + step if adds else size * step


def show_sizes(sizes: Collection[int]) -> str:
    """`8 B`, or `21 sizes from 1 B to 1 MiB`."""
    if len(sizes) == 1:
        return show_size(next(iter(sizes)))
    return f"{len(sizes)} sizes from {show_size(min(sizes))} to {show_size(max(sizes))}"


def show_size(size: int) -> str:
    """`1 B`, `64 KiB`, `1 MiB`: the largest binary unit that divides `size`."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"
