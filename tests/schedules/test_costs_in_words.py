"""Costs as `timpani predict` and `timpani fit` print them."""

import numpy as np
import polars as pl
import pytest

from timpani.report.document.blocks import Document
from timpani.schedules.algorithms.simulation import CostLine, Costs
from timpani.schedules.predict.accuracy import ShownPrediction, costs_lines, costs_object
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.campaign import PREDICTED, RATIO, Prediction
from timpani.stats.curve import TIME
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import cell_columns


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


@pytest.mark.parametrize(("details", "rows"), [(False, ["2 to 26"]), (True, [str(ranks) for ranks in range(2, 27)])])
def test_many_predicted_curves_are_a_line_for_each_algorithm_unless_details_are_asked_for(
    details: bool, rows: list[str]
) -> None:
    cells = [
        Cell("bcast", Algorithm("timpani", name), ranks, "core", 8, "warm")
        for name in ("binary", "chain")
        for ranks in range(2, 27)
    ]
    times = pl.DataFrame(
        [{**cell_columns(cell), "machine": "m", TIME: 2.0, PREDICTED: 3.0, RATIO: 1.5} for cell in cells]
    )
    calibration = Calibration(Costs(), [], np.zeros(0, bool), np.zeros((0, 0)), None, np.zeros(0), False)
    document = Document("", tuple(ShownPrediction(Prediction(times, calibration, True, [])).blocks(details)))
    assert [value.text for value in document["ratios"].column("ranks")] == 2 * rows
