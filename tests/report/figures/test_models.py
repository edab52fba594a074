import polars as pl
import pytest

from tests.report.figures.drawing import about, items, texts
from timpani.report.figures.models import FITTED, MEASURED, SWITCH, fitted, residuals

SIZES = (0, 1, 64, 4096, 65536)


@pytest.fixture
def rows() -> pl.DataFrame:
    """Two placements with intervals; the second jumps at 4 KiB."""
    measured = [
        {
            "label": label,
            "status": "ok",
            "part": MEASURED,
            "message_bytes": float(size),
            "time_us": start + size / 1000,
            "low_us": (start + size / 1000) * 0.9,
            "high_us": (start + size / 1000) * 1.1,
        }
        for label, start in (("default, core", 1.0), ("default, node", 2.0))
        for size in SIZES
    ]
    lines = [
        {"label": label, "part": FITTED, "piece": piece, "message_bytes": size, "time_us": 1 + size / 1000}
        for label, piece, sizes in (
            ("default, core", 0, (0.5, 65536.0)),
            ("default, node", 0, (0.5, 64.0)),
            ("default, node", 1, (4096.0, 65536.0)),
        )
        for size in sizes
    ]
    switch = {"label": "default, node", "part": SWITCH, "message_bytes": 4096.0, "ratio": 1.5, "evidence": 6.0}
    return pl.DataFrame([*measured, *lines, switch], infer_schema_length=None)


def test_every_size_has_its_point_and_its_error_bar(rows: pl.DataFrame) -> None:
    figure = fitted(rows)
    assert len(about(items(figure, "symbol"), "time (µs)")) == 2 * len(SIZES)
    bars = [item for item in items(figure, "rule") if item.get("strokeWidth") == 1.2 and "strokeDash" not in item]
    assert len(bars) == 2 * len(SIZES)
    assert texts(figure, "legend-label") == ["default, core", "default, node"]


def test_lines_break_at_a_switch_which_is_marked(rows: pl.DataFrame) -> None:
    figure = fitted(rows)
    assert len(items(figure, "line")) == 3 * 2  # places of three regimes
    (switch,) = [item for item in items(figure, "rule") if item.get("strokeDash")]
    assert "first size after the switch: 4096" in switch["description"]
    points = about(items(figure, "symbol"), "message bytes: 4096")
    assert switch["x"] == pytest.approx(points[0]["x"])


def test_residuals_stand_around_zero() -> None:
    rows = pl.DataFrame(
        {
            "label": ["a"] * 3 + ["b"] * 3,
            "ranks": [2, 4, 8] * 2,
            "message_bytes": [8] * 6,
            "fitted": [1.0, 2.0, 3.0] * 2,
            "residual": [-0.5, 0.0, 0.5] * 2,
        }
    )
    figure = residuals(rows)
    low, middle, high = (
        about(items(figure, "symbol"), f"ranks: {ranks}", "algorithm: a")[0]["y"] for ranks in (2, 4, 8)
    )
    assert low > middle > high
    assert middle == pytest.approx(items(figure, "rule")[0]["y"])
    assert texts(figure, "axis-title").count("Residual") == 2
