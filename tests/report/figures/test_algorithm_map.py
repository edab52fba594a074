import polars as pl

from tests.report.figures.conftest import SIZES
from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.maps import algorithm_map


def test_ties_and_only_ties_are_hatched(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    hatched = [item for item in items(figure, "symbol") if str(item["shape"]).count("M") > 3]
    tied = about(items(figure, "rect"), "message_bytes: 64;")
    assert {(item["x"], item["y"]) for item in hatched} == {
        (item["x"] + item["width"] / 2, item["y"] + item["height"] / 2) for item in tied
    }
    assert len(hatched) == 2


def test_ties_are_paler_than_verdicts(decisions: pl.DataFrame) -> None:
    cells = items(algorithm_map(decisions), "rect")
    tied = about(cells, "message_bytes: 64;")
    assert max(cell["opacity"] for cell in tied) < min(cell["opacity"] for cell in cells if cell not in tied)


def test_winners_are_numbered_so_that_the_map_reads_without_color(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    assert texts(figure, "legend-label")[:2] == ["1  default", "2  knomial:radix=4"]
    assert {item["text"] for item in about(items(figure, "text"), "message_bytes: 0;")} == {"1"}
    assert {item["text"] for item in about(items(figure, "text"), "message_bytes: 4096;")} == {"2"}
    assert len(items(figure, "rect")) == 2 * len(SIZES)


def test_the_status_of_a_winner_is_marked_in_its_cell(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    (mark,) = about(items(figure, "symbol"), "status: not_converged")
    (cell,) = about(items(figure, "rect"), "message_bytes: 4096;", "ranks: 4;")
    assert cell["x"] < mark["x"] < cell["x"] + cell["width"]
    assert cell["y"] < mark["y"] < cell["y"] + cell["height"]
    assert "not converged" in texts(figure, "legend-label")


def test_a_tie_names_the_others(decisions: pl.DataFrame) -> None:
    tied = about(items(algorithm_map(decisions), "rect"), "message_bytes: 64;")
    assert all("tied with it: default" in cell["description"] for cell in tied)


def test_a_tie_has_no_winners_color_and_the_numbers_of_all_that_tie(decisions: pl.DataFrame) -> None:
    figure = algorithm_map(decisions)
    cells = items(figure, "rect")
    tied = about(cells, "message_bytes: 64;")
    assert {cell["fill"] for cell in tied}.isdisjoint(cell["fill"] for cell in cells if cell not in tied)
    assert {item["text"] for item in about(items(figure, "text"), "message_bytes: 64;")} == {"1=2"}


def test_a_tie_of_many_has_the_numbers_of_two_and_its_legend_names_both(decisions: pl.DataFrame) -> None:
    tie = pl.lit(["knomial:radix=4", "binary", "default"])
    many = decisions.with_columns(tied=pl.when(pl.col("verdict") == "tie").then(tie).otherwise("tied"))
    figure = algorithm_map(many)
    assert texts(figure, "legend-label")[:3] == ["1  default", "2  binary", "3  knomial:radix=4"]
    assert {item["text"] for item in about(items(figure, "text"), "message_bytes: 64;")} == {"2=3…"}
