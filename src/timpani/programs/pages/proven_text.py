"""The messages that were counted of a program's calls, and the algorithms whose schedules send the same."""

from collections.abc import Callable, Iterator
from typing import Any

from timpani.programs.profile.profile_lines import CallsLine, ProfilePart
from timpani.programs.profile.profiled_points import ProvenCall, proven_calls
from timpani.report.document.text import aligned
from timpani.slices import Hook
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.study.words import counted

MessageWords = Callable[[dict[str, Any], int], str]
"""The schedules that send the messages of a call, in words; its element has that many bytes."""

MESSAGE_WORDS: Hook[Callable[[], MessageWords]] = Hook("MESSAGE_WORDS")

_HEADINGS = ("collective", "ranks", "size", "calls", "seconds", "messages", "its messages are")


def proven_lines(part: ProfilePart, words: MessageWords) -> Iterator[str]:
    """A row for each kind of call whose messages are known, those first that take longest; then what is unknown."""
    calls = [call for call in proven_calls(part) if call.collective in COLLECTIVES]
    rows = sorted(((_seconds(part, _lines(part, call)), call) for call in calls), key=lambda row: -row[0])
    if rows:
        yield from aligned([_HEADINGS, *(_row(part, call, seconds, words) for seconds, call in rows)])
        yield "one of the first three calls of each kind was counted; ranks are counted from the root on"
    known = {id(line) for call in calls for line in _lines(part, call)}
    unknown = [line for line in part.calls if _is_provable(line) and id(line) not in known]
    if unknown:
        yield (
            f"not counted: {counted(len(unknown), 'kind')} of calls with {_seconds(part, unknown):.3g} s: ranks know "
            "their own blocks only, or the communicator has one rank or ranks without Timpani's library"
        )


def _is_provable(line: CallsLine) -> bool:
    """Whether the library sent its messages: by its own choice, or by a rule that names one of its algorithms."""
    return line.form == "blocking" and (not line.algorithm or "/" in line.algorithm)


def _lines(part: ProfilePart, call: ProvenCall) -> list[CallsLine]:
    kind = (call.collective, call.ranks, call.size_class)
    return [line for line in part.calls if _is_provable(line) and (line.name, line.ranks, line.size_class) == kind]


def _seconds(part: ProfilePart, lines: list[CallsLine]) -> float:
    return part.per_rank(sum(line.ns for line in lines))


def _row(part: ProfilePart, call: ProvenCall, seconds: float, words: MessageWords) -> tuple[str, ...]:
    sent = call.sent
    return (
        call.collective,
        str(call.ranks),
        show_size(call.message_bytes),
        f"{sum(part.calls_of(line) for line in _lines(part, call)):g}",
        f"{seconds:.6f}",
        str(sent),
        words(vars(call), call.element_bytes) if sent else "none: the library shared memory",
    )
