"""Traces as Perfetto reads them."""

from collections import Counter

from timpani.schedules.algorithms.simulation import SimulatedCall, Simulator
from timpani.schedules.drawing import trace
from timpani.study.cell import OWN, Algorithm


def test_a_trace_has_both_ends_of_each_message_and_an_arrow(simulator: Simulator) -> None:
    call = SimulatedCall("reduce", Algorithm(OWN, "binomial"), 5, 8)
    (events,) = simulator.events([call])
    lines = trace(events, "reduce/binomial")["traceEvents"]
    messages = events.filter(kind="send")
    assert Counter(line["cat"] for line in lines if line["ph"] == "X") == {
        "send": messages.height,
        "receive": messages.height,
        "reduce": events.filter(kind="reduce").height,
        **({"copy": copies} if (copies := events.filter(kind="copy").height) else {}),
    }
    starts = {line["id"]: line for line in lines if line["ph"] == "s"}
    ends = {line["id"]: line for line in lines if line["ph"] == "f"}
    assert starts.keys() == ends.keys()
    pairs = {(starts[number]["pid"], ends[number]["pid"]) for number in starts}
    assert pairs == set(messages.select("rank", "peer").iter_rows())
    assert {line["args"]["name"] for line in lines if line["name"] == "process_name"} == {
        f"rank {rank}" for rank in range(5)
    }
