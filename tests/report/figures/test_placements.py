import polars as pl
import pytest

from tests.report.figures.drawing import about, items
from timpani.report.figures.latency import AGAINST_SIZE
from timpani.report.figures.placements import UNSIZED_TIMES as FIGURE
from timpani.report.figures.placements import (
    placements,
)
from timpani.report.figures.theme import LIGHT

pytestmark = pytest.mark.slow


def two_placements(cells: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([cells, cells.with_columns(placement=pl.lit("node"), median_us=pl.col("median_us") * 2)])


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


def setups(cells_by_ranks: pl.DataFrame) -> pl.DataFrame:
    one = cells_by_ranks.with_columns(collective=pl.lit("setup"), message_bytes=pl.lit(0, pl.Int64))
    other = one.with_columns(placement=pl.lit("category:1:2"), median_us=pl.lit(None, pl.Float64))
    return pl.concat([one, other.filter(pl.col("label") != "linear")], how="vertical_relaxed")


def test_only_they_are_drawn_so(cells_by_ranks: pl.DataFrame) -> None:
    both = pl.concat([setups(cells_by_ranks), cells_by_ranks])
    assert set(both.filter(FIGURE.rows)["collective"]) == {"setup"}
    assert set(both.filter(AGAINST_SIZE.rows)["collective"]) == {"bcast"}
