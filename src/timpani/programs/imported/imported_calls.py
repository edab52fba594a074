"""Calls as other tools name and count them."""

import re
from collections.abc import Mapping
from typing import Any

from timpani.programs.profile.profile_lines import Form, RankLine

_COLLECTIVE = re.compile(
    r"(?P<start>i?)(?P<name>barrier|bcast|(?:all)?gatherv?|scatterv?|alltoall[vw]?|(?:all)?reduce|reduce_scatter"
    r"(?:_block)?|(?:ex)?scan|neighbor_all(?:gatherv?|toall[vw]?))(?P<prepare>(?:_init)?)"
)
_MESSAGE = re.compile(r"i?[bsr]?send|i?m?recv|i?sendrecv(?:_replace)?|(?:[bsr]?send|recv|psend|precv)_init")
_COMPLETION = re.compile(r"start(?:all)?|(?:wait|test)(?:any|all|some)?|i?m?probe")

UNKNOWN: Mapping[str, Any] = {
    **dict.fromkeys(("operator", "datatype", "algorithm", "reason"), ""),
    **dict.fromkeys(("world", "between_groups", "in_place"), False),
    **dict.fromkeys(("ranks", "nodes", "per_node", "rooted_calls"), 0),
    **dict.fromkeys(("matched_calls", "matched_ns", "waiting_ns", "waiting_error_ns"), 0),
}
"""The fields of a `CallsLine` that the tools do not record."""


def call_form(call: str) -> tuple[Form, str]:
    """How a call uses MPI, and its name in a profile: `Ibcast` starts a `bcast`."""
    name = call.lower()
    if collective := _COLLECTIVE.fullmatch(name):
        form: Form = "non_blocking" if collective["start"] else "persistent" if collective["prepare"] else "blocking"
        return form, collective["name"]
    if _MESSAGE.fullmatch(name):
        return "message", name
    return ("completion" if _COMPLETION.fullmatch(name) else "other"), name


def rank_line(rank: int, host: str, program: str, seconds: float, spent: Mapping[Form, int]) -> RankLine:
    """A rank that ran `seconds`, and its nanoseconds in calls of each form, as far as they are known."""
    return RankLine(
        rank=rank,
        host=host,
        program=program,
        wall_ns=round(seconds * 1e9),
        blocking_ns=spent.get("blocking", 0),
        non_blocking_ns=spent.get("non_blocking", 0),
        persistent_ns=spent.get("persistent", 0),
        message_ns=spent.get("message", 0),
        completion_ns=spent.get("completion", 0),
        setup_ns=0,
    )
