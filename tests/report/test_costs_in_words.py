"""Costs as `timpani predict` and `timpani fit` print them."""

from timpani.report.predicted.accuracy import costs_lines, costs_object
from timpani.schedules.simulation import CostLine, Costs


def test_the_description_of_a_link_has_its_burst() -> None:
    costs = Costs(idle=24.0, shared=(0.0, 0.08, 0.16), burst=(0.0, 12288.0, 0.0), messages=((CostLine(gap=1.0),),))
    lines = list(costs_lines(costs))
    assert (
        "a node's link, which messages pass one behind the other: 0.08 µs/B, but for up to 12 KiB at once after a rest"
        in lines
    )
    assert "a group's uplink, which messages pass one behind the other: 0.16 µs/B" in lines
    assert "links that let bytes pass at once have been idle for 24 µs when a call begins" in lines
    values = costs_object(costs)
    assert values["burst_bytes"] == {
        "a socket's or node's memory": 0.0,
        "a node's link": 12288.0,
        "a group's uplink": 0.0,
    }
    assert values["idle_us"] == 24.0
    assert not any("idle" in line for line in costs_lines(Costs()))
