import polars as pl

from tests.report.figures.conftest import SIZES
from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.ratios import speedup
from timpani.report.figures.theme import LIGHT, styles


def colors(figure: object, label: str) -> set[str]:
    return {item["stroke"] for item in about(items(figure, "rule"), f"label: {label}")}  # type: ignore[arg-type]


def test_differences_that_may_be_chance_are_gray(ratios: pl.DataFrame) -> None:
    points = items(speedup(ratios), "symbol")
    assert {item["fill"] for item in about(points, "algorithm: binomial")} == {LIGHT.unsure}
    for style in styles(ratios["label"], LIGHT):
        if style.label != "binomial":
            assert style.color in {item["fill"] for item in about(points, f"algorithm: {style.label}")}


def test_each_ratio_has_its_interval(ratios: pl.DataFrame) -> None:
    intervals = about(items(speedup(ratios), "rule"), "bar_low")
    assert len(intervals) == ratios.height
    assert all(rule["y"] > rule["y2"] for rule in intervals)


def test_an_unbounded_interval_is_not_drawn_but_its_ratio_is(ratios: pl.DataFrame) -> None:
    figure = speedup(ratios.with_columns(pl.lit(None, pl.Float64).alias("ratio_high")))
    assert not about(items(figure, "rule"), "bar_low")
    assert len(items(figure, "symbol")) == ratios.height


def test_there_is_a_panel_for_each_compared_algorithm_and_none_for_the_default(ratios: pl.DataFrame) -> None:
    default = ratios.head(1).with_columns(
        label=pl.lit("default"), ratio=pl.lit(None, pl.Float64), significant=pl.lit(None, pl.Boolean)
    )
    figure = speedup(pl.concat([default, ratios]))
    assert texts(figure, "title-text")[-3:] == ["binomial", "knomial:radix=4", "linear"]


def test_a_flagged_point_keeps_its_shape(ratios: pl.DataFrame) -> None:
    figure = speedup(ratios)
    (flagged,) = about(items(figure, "symbol"), "status: skewed")
    assert flagged["shape"] == "triangle-up"
    assert flagged["stroke"] == styles(ratios["label"], LIGHT)[-1].color
    assert "skewed" in texts(figure, "legend-label")
    assert len(about(items(figure, "symbol"), "algorithm: linear")) == len(SIZES)


def test_each_panel_counts_the_intervals_cut_on_the_axis_that_all_share(ratios: pl.DataFrame) -> None:
    linear = (pl.col("label") == "linear") & (pl.col("message_bytes") == 64)
    figure = speedup(ratios.with_columns(ratio_low=pl.when(linear).then(1e-5).otherwise("ratio_low")))
    assert [item["text"] for item in items(figure, "text")] == ["1 of 6 intervals cut"]


def test_long_names_of_panels_are_broken_into_lines(ratios: pl.DataFrame) -> None:
    long = ratios.with_columns(pl.col("label").replace({"linear": "timpani/two_level_chain:segment_bytes=8192"}))
    (title,) = (item["text"] for item in items(speedup(long), "text", "title-text") if "timpani" in str(item["text"]))
    assert title == ["timpani/two_level_chain:", "segment_bytes=8192"]
