"""A tuning file of unknown origin: its format, a library that reads it, and what that chooses with and without it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import FileDecisions, TuningFile
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes
from timpani.study.operations import COLLECTIVES
from timpani.study.selection import Call
from timpani.study.sizes import show_size
from timpani.study.words import counted

_MAX_FILE_BYTES = 2**22
"""A library's whole tree has 15 thousand; a rules file of this size has some 100,000 rules, and is read in seconds."""


@dataclass(frozen=True)
class ForeignFile:
    """The text and format of a tuning file, and the library whose algorithms it names."""

    text: str
    format: TuningFile
    mpi: Mpi
    catalogue: Catalogue


def read_file(path: Path, wanted: str | None) -> ForeignFile:
    """The file at `path`, for the library `wanted`, or for the first installed library that reads its format.

    UserError if the file can't be read, its format is unknown, or no such library is installed.
    """
    try:
        raw = read_bytes(path, "name a library's tuning file", _MAX_FILE_BYTES)
    except FileNotFoundError:
        raise UserError(f"file not found: {path}", "name a library's tuning file") from None
    text = raw.decode(errors="replace")
    formats = tuple(dict.fromkeys(each for library in LIBRARIES.values() for each in library.files.tuning))
    matching = [each for each in formats if each.recognizes(text)]
    if not matching:
        known = "; ".join(each.title for each in formats)
        raise UserError(f"{path} is no tuning file of a known format", f"known formats: {known}")
    mpis = [choose_mpi(wanted)] if wanted else find_mpis()
    for mpi in mpis:
        for each in matching:
            if each in LIBRARIES[mpi.kind].files.tuning and each.is_read_by(mpi):
                return ForeignFile(text, each, mpi, LIBRARIES[mpi.kind].algorithms.catalogue(mpi))
    titles = " or ".join(each.title for each in matching)
    where = mpis[0] if wanted else "any library that is installed here"
    raise UserError(f"{path} seems to be {titles}, which Timpani does not read for {where}", "name another with --mpi")


_SIZES = tuple(2**power for power in range(31))
_DEFAULT = "the library's choice"


def explained(
    choice: FileDecisions,
    ranks: int,
    nodes: int,
    default: FileDecisions | None = None,
    sent: Mapping[str, Mapping[int, str]] = {},
) -> Iterator[str]:
    """A line for each range of sizes with one algorithm; the sizes are powers of two.

    default  the library's choices without a file; None if unknown
    sent     the default's messages, in words, by collective and size; these collectives use only these sizes
    """
    per_node = ceil(ranks / nodes)
    yield f"{counted(ranks, 'rank')} on {counted(nodes, 'node')}; sizes as `timpani list operations` counts them"
    if default is not None:
        yield "without the file: by the library's built-in table; choices that override this table are unknown"
    for collective, operation in COLLECTIVES.items():
        if collective == "null":
            continue  # Timpani's empty call
        messages = sent.get(collective, {})
        sizes = tuple(sorted(messages)) or (_SIZES if operation.sized else _SIZES[:1])
        calls = [Call(collective, ranks, nodes, per_node, size) for size in sizes]
        chosen = [(_chosen(call, choice, default, messages), call.message_bytes) for call in calls]
        for words, run in groupby(chosen, key=lambda each: each[0]):
            span = _span([size for _, size in run], sizes, whole=not messages)
            yield f"{collective:22} {span:24} {words}"


def _chosen(call: Call, choice: FileDecisions, default: FileDecisions | None, sent: Mapping[int, str]) -> str:
    by_file = choice.decide(call)
    words = str(by_file or _DEFAULT)
    if sent:
        return f"{words}; without the file it sends {sent[call.message_bytes]}"
    if default is None or (without := default.decide(call)) == by_file:
        return words
    return f"{words}; without the file {without or 'the table names no algorithm'}"


def _span(run: Sequence[int], sizes: Sequence[int], whole: bool) -> str:
    """The sizes of a range; `whole`: they represent all sizes between and beyond them."""
    if whole and run[-1] == sizes[-1]:
        return "all sizes" if run[0] == sizes[0] else f"{show_size(run[0])} and more"
    return show_size(run[0]) if len(run) == 1 else f"{show_size(run[0])} to {show_size(run[-1])}"
