"""A simulated call as a trace for Perfetto and Chrome's about:tracing.

Source: the Trace Event Format (Google, 2016), JSON array form with complete events (X) and flow events (s, f).
"""

from typing import Any

import polars as pl


def trace(events: pl.DataFrame, title: str) -> dict[str, Any]:
    """The trace of `events` (columns of EVENT_SCHEMA): a process for each rank, with threads for sends, receives and
    computation, and an arrow for each message."""
    lines: list[dict[str, Any]] = []
    ranks = sorted({*events["rank"], *events.filter(kind="send")["peer"]})
    for rank in ranks:
        lines.append({"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank {rank}"}})
        lines.append({"ph": "M", "pid": rank, "name": "process_sort_index", "args": {"sort_index": rank}})
        lines.extend(
            {"ph": "M", "pid": rank, "tid": tid, "name": "thread_name", "args": {"name": name}}
            for tid, name in enumerate(("sends", "receives", "computes"))
        )
    for number, event in enumerate(events.iter_rows(named=True)):
        lines.extend(_message(event, number) if event["kind"] == "send" else [_local(event)])
    return {"traceEvents": lines, "displayTimeUnit": "ns", "otherData": {"title": title, "clock": "one tick = 1 us"}}


def _message(event: dict[str, Any], number: int) -> list[dict[str, Any]]:
    sender, receiver = event["rank"], event["peer"]
    times = _times(event)
    arguments = {"round": event["round"], "bytes": event["bytes"]}
    flow = {"cat": "message", "name": "message", "id": number}
    return [
        {"ph": "X", "cat": "send", "name": f"to {receiver}", "pid": sender, "tid": 0, **times, "args": arguments},
        {"ph": "X", "cat": "receive", "name": f"from {sender}", "pid": receiver, "tid": 1, **times, "args": arguments},
        {"ph": "s", **flow, "pid": sender, "tid": 0, "ts": times["ts"]},
        {"ph": "f", "bp": "e", **flow, "pid": receiver, "tid": 1, "ts": times["ts"] + times["dur"]},
    ]


def _local(event: dict[str, Any]) -> dict[str, Any]:
    arguments = {"round": event["round"], "bytes": event["bytes"]}
    return {
        **{"ph": "X", "cat": event["kind"], "name": event["kind"], "pid": event["rank"], "tid": 2},
        **_times(event),
        "args": arguments,
    }


def _times(event: dict[str, Any]) -> dict[str, float]:
    """In microseconds, the format's unit: one for each tick of the clock."""
    return {"ts": event["start"], "dur": event["end"] - event["start"]}
