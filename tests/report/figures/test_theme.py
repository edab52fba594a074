import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from timpani.report.figures import theme
from timpani.report.figures.columns import ordered
from timpani.report.figures.status import shapes, status_words


def test_thirty_five_algorithms_look_different() -> None:
    styled = theme.styles((f"algorithm_{i}" for i in range(35)), theme.LIGHT)
    assert len({(style.color, tuple(style.dash)) for style in styled}) == 35


def test_the_default_comes_first_and_parameters_count_as_numbers() -> None:
    labels = ["chain:fanout=16", "binomial", "chain:fanout=4", "openmpi/default", "chain"]
    assert ordered(labels) == ["openmpi/default", "binomial", "chain", "chain:fanout=4", "chain:fanout=16"]


def test_no_algorithm_has_the_default_s_look() -> None:
    default, *others = theme.styles(["default", *map(str, range(20))], theme.LIGHT)
    assert default.color not in {style.color for style in others}
    assert default.width > max(style.width for style in others)


def test_an_algorithm_has_one_color_in_all_figures_of_a_report() -> None:
    bcast = ["default", "binomial", "chain", "linear", "pipeline", "ring"]
    scatter = ["default", "bruck", "binomial", "linear", "tree"]
    palette = replace(theme.LIGHT, numbers=theme.style_numbers([bcast, scatter]))
    drawn = [{style.label: style for style in theme.styles(labels, palette)} for labels in (bcast, scatter, ["tree"])]
    for label in (*bcast, *scatter):
        assert len({(style[label].color, tuple(style[label].dash)) for style in drawn if label in style}) == 1
    for styles in drawn:
        assert len({style.color for style in styles.values()}) == len(styles)


def test_curves_of_one_algorithm_at_several_placements_have_its_color_and_different_dashes() -> None:
    palette = replace(theme.LIGHT, numbers=theme.style_numbers([["default", "binomial", "linear"]]))
    alone = {style.label: style.color for style in theme.styles(["default", "binomial", "linear"], palette)}
    labels = [f"{name}, {placement}" for name in alone for placement in ("core", "node")]
    placed = theme.styles(labels, palette)
    assert all(style.color == alone[style.label.split(", ")[0]] for style in placed)
    assert len({(style.color, tuple(style.dash)) for style in placed}) == len(labels)


def test_every_color_of_the_page_is_defined_in_light_and_dark() -> None:
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", repr(theme.PAGE)))
    assert len(used) > len(theme.LIGHT.series)
    for palette in (theme.LIGHT, theme.DARK):
        assert set(re.findall(r"(--[a-z0-9-]+):", palette.css())) == used


def test_mixed_statuses_have_shapes_of_their_own() -> None:
    found = shapes(["ok", "skewed", "skewed+oversubscribed", "not_converged+skewed", "ok"])
    assert len(set(found.values())) == len(found) == 4
    assert status_words("not_converged+skewed") == "not converged, skewed"


def test_layers_stand_together_as_altair_s_do() -> None:
    def drawn(layer: Callable[..., Any], rows: pl.DataFrame) -> dict[str, Any]:
        base = alt.Chart(rows).encode(x=alt.X("x:Q"))
        points, names = base.mark_point(), base.transform_filter("datum.x > 0").mark_text()
        inner = layer(points, names, width=10, height=20)
        whole: dict[str, Any] = layer(base.mark_rule(), inner).transform_filter("true").to_dict()
        return whole

    rows = pl.DataFrame({"x": [1, 2]})
    assert drawn(theme.layer, rows) == drawn(alt.layer, rows)
