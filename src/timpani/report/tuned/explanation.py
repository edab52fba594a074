"""What a library would choose by a tuning file, by collective and size, beside what it chooses without."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil

from timpani.libraries.tuning_file import FileDecisions
from timpani.study.counted import counted
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.tuning.decide.selection_table import Call

_SIZES = tuple(2**power for power in range(31))
_DEFAULT = "the library's own choice"


def explained(
    choice: FileDecisions,
    ranks: int,
    nodes: int,
    default: FileDecisions | None = None,
    sent: Mapping[str, Mapping[int, str]] = {},
) -> Iterator[str]:
    """A line for each run of sizes with one algorithm; sizes are looked at in powers of two.

    default  what the library chooses without a file, where it tells that
    sent     what the default's messages are, in words, by collective and size: of these collectives those sizes alone
             are looked at
    """
    per_node = ceil(ranks / nodes)
    yield f"{counted(ranks, 'rank')} on {counted(nodes, 'node')}; sizes as `timpani list operations` counts them"
    if default is not None:
        yield "without the file: as the library's own table says; what goes before that table isn't told"
    for collective, operation in COLLECTIVES.items():
        if collective == "null":
            continue  # ours, which calls nothing
        told = sent.get(collective, {})
        sizes = tuple(sorted(told)) or (_SIZES if operation.sized else _SIZES[:1])
        calls = [Call(collective, ranks, nodes, per_node, size) for size in sizes]
        chosen = [(_chosen(call, choice, default, told), call.message_bytes) for call in calls]
        for words, run in groupby(chosen, key=lambda each: each[0]):
            span = _span([size for _, size in run], sizes, whole=not told)
            yield f"{collective:22} {span:24} {words}"


def _chosen(call: Call, choice: FileDecisions, default: FileDecisions | None, sent: Mapping[int, str]) -> str:
    by_file = choice.decide(call)
    words = str(by_file or _DEFAULT)
    if sent:
        return f"{words}; without the file it sends {sent[call.message_bytes]}"
    if default is None or (without := default.decide(call)) == by_file:
        return words
    return f"{words}; without the file {without or 'it names none'}"


def _span(run: Sequence[int], sizes: Sequence[int], whole: bool) -> str:
    """The sizes of a run; `whole`: they stand for all between and beyond them."""
    if whole and run[-1] == sizes[-1]:
        return "all sizes" if run[0] == sizes[0] else f"{show_size(run[0])} and more"
    return show_size(run[0]) if len(run) == 1 else f"{show_size(run[0])} to {show_size(run[-1])}"
