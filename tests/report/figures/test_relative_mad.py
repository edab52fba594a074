import polars as pl

from tests.report.figures.conftest import LATENCY_US, SIZES
from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.maps import relative_mad


def test_a_larger_mad_is_a_stronger_shade_with_its_per_cent(cells: pl.DataFrame) -> None:
    wide = (pl.col("label") == "default") & (pl.col("message_bytes") == 64)
    figure = relative_mad(cells.with_columns(relative_mad=pl.when(wide).then(0.2).otherwise(pl.col("relative_mad"))))
    (strong,) = about(items(figure, "rect"), "algorithm: default", "message bytes: 64;", "spread (%)")
    assert all(
        item["fillOpacity"] < strong["fillOpacity"]
        for item in about(items(figure, "rect"), "spread (%)")
        if item != strong
    )
    assert sorted({item["text"] for item in items(figure, "text")}) == ["2", "20"]


def test_bimodal_cells_are_framed(cells: pl.DataFrame) -> None:
    framed = [item for item in items(relative_mad(cells), "rect") if item.get("strokeWidth") == 1.8]
    assert len(framed) == 1


def test_a_cell_without_it_is_blank_and_says_why(cells: pl.DataFrame) -> None:
    figure = relative_mad(cells)
    assert len(items(figure, "text")) == len(LATENCY_US) * len(SIZES) - 1
    assert len(about(items(figure, "symbol"), "status: failed")) == 1
    assert texts(figure, "legend-label") == ["not converged", "failed"]
