import polars as pl

from tests.report.figures.conftest import LATENCY_US, SIZES
from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.maps import algorithm_map, relative_mad


def test_ties_and_only_ties_are_hatched(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    hatched = [item for item in items(figure, "symbol") if str(item["shape"]).count("M") > 3]
    tied = about(items(figure, "rect"), "message_bytes: 64;")
    assert {(item["x"], item["y"]) for item in hatched} == {
        (item["x"] + item["width"] / 2, item["y"] + item["height"] / 2) for item in tied
    }
    assert len(hatched) == 2


def test_a_tie_has_no_winners_color_and_the_numbers_of_all_that_tie(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    cells = items(figure, "rect")
    tied = about(cells, "message_bytes: 64;")
    assert {cell["fill"] for cell in tied}.isdisjoint(cell["fill"] for cell in cells if cell not in tied)
    assert {item["text"] for item in about(items(figure, "text"), "message_bytes: 64;")} == {"1=2"}


def test_a_cell_without_it_is_blank_and_says_why(cells: pl.DataFrame) -> None:
    figure = relative_mad(cells)
    assert len(items(figure, "text")) == len(LATENCY_US) * len(SIZES) - 1
    assert len(about(items(figure, "symbol"), "status: failed")) == 1
    assert texts(figure, "legend-label") == ["not converged", "failed"]
