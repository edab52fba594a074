"""Operations without a size: a row for each rank count and placement instead of a dot at 0 B."""

import polars as pl

from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.latency import AGAINST_SIZE
from timpani.report.figures.placements import UNSIZED_TIMES as FIGURE
from timpani.report.figures.placements import unsized
from timpani.report.figures.theme import LIGHT


def setups(cells_by_ranks: pl.DataFrame) -> pl.DataFrame:
    one = cells_by_ranks.with_columns(collective=pl.lit("setup"), message_bytes=pl.lit(0, pl.Int64))
    other = one.with_columns(placement=pl.lit("category:1:2"), median_us=pl.lit(None, pl.Float64))
    return pl.concat([one, other.filter(pl.col("label") != "linear")], how="vertical_relaxed")


def test_each_algorithm_has_a_point_with_its_interval_at_each_rank_count_and_placement(
    cells_by_ranks: pl.DataFrame,
) -> None:
    cells = setups(cells_by_ranks)
    figure = unsized(cells)
    assert len(about(items(figure, "symbol"), "algorithm")) == cells.height  # an average where there is no median
    assert {"2 ranks, core", "8 ranks, core", "1 × 2, category 1"} <= set(texts(figure, "axis-label"))
    assert len(about(items(figure, "rule"), "bar_low")) == cells.height


def test_a_status_whose_shape_is_a_line_is_seen(cells_by_ranks: pl.DataFrame) -> None:
    figure = unsized(setups(cells_by_ranks).with_columns(status=pl.lit("not_converged+skewed+oversubscribed")))
    points = about(items(figure, "symbol"), "algorithm: default")
    assert {(point["stroke"], point["strokeWidth"] > 0) for point in points} == {(LIGHT.text, True)}


def test_only_they_are_drawn_so(cells_by_ranks: pl.DataFrame) -> None:
    both = pl.concat([setups(cells_by_ranks), cells_by_ranks])
    assert set(both.filter(FIGURE.rows)["collective"]) == {"setup"}
    assert set(both.filter(AGAINST_SIZE.rows)["collective"]) == {"bcast"}
