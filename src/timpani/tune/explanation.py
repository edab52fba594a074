"""The choices of a library with a tuning file and without it, by collective and size."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil

from timpani.libraries.tuning_file import FileDecisions
from timpani.study.operations import COLLECTIVES
from timpani.study.selection import Call
from timpani.study.sizes import show_size
from timpani.study.words import counted

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
