import polars as pl
import pytest

from tests.report.figures.drawing import about, items
from timpani.report.figures.models import FITTED, MEASURED, SWITCH, fitted

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


def test_lines_break_at_a_switch_which_is_marked(rows: pl.DataFrame) -> None:
    figure = fitted(rows)
    assert len(items(figure, "line")) == 3 * 2  # places of three regimes
    (switch,) = [item for item in items(figure, "rule") if item.get("strokeDash")]
    assert "first size after the switch: 4096" in switch["description"]
    points = about(items(figure, "symbol"), "message bytes: 4096")
    assert switch["x"] == pytest.approx(points[0]["x"])
