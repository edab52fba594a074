import polars as pl

from tests.charts.drawing import about, items, texts
from timpani.charts.placements import placements
from timpani.charts.theme import LIGHT


def two_placements(cells: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([cells, cells.with_columns(placement=pl.lit("node"), median_us=pl.col("median_us") * 2)])


def test_a_panel_for_each_size_with_a_row_for_each_placement(cells: pl.DataFrame) -> None:
    figure = placements(two_placements(cells).filter(pl.col("message_bytes") > 0))
    assert texts(figure, "title-text")[:2] == ["1 B", "64 B"]
    assert {"2 ranks, core", "2 ranks, node"} <= set(texts(figure, "axis-label"))


def test_every_time_is_drawn_and_a_failed_cell_is_not(cells: pl.DataFrame) -> None:
    both = two_placements(cells)
    points = items(placements(both), "symbol")
    assert len(about(points, "algorithm")) == both["median_us"].is_not_null().sum()
    assert {item["fill"] for item in about(points, "algorithm: default")} == {LIGHT.text}


def test_the_links_own_time_is_a_bar_where_it_is_known(cells: pl.DataFrame) -> None:
    bounded = cells.with_columns(bound_us=pl.when(pl.col("message_bytes") > 64).then(pl.col("median_us") / 2))
    bars = about(items(placements(bounded), "rect"), "links alone")
    assert len(bars) == bounded["bound_us"].is_not_null().sum()
    assert not about(items(placements(cells), "rect"), "links alone")


def test_an_interval_is_cut_by_the_times_of_its_own_panel(cells: pl.DataFrame) -> None:
    at_64 = (pl.col("label") == "default") & (pl.col("message_bytes") == 64)
    wide = cells.with_columns(ci_high_us=pl.when(at_64).then(200.0).otherwise("ci_high_us"))
    assert [item["text"] for item in items(placements(wide), "text")] == ["1 of 4 intervals cut"]
