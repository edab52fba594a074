import re
from dataclasses import replace

from timpani.report.figures import theme


def test_thirty_five_algorithms_look_different() -> None:
    styled = theme.styles((f"algorithm_{i}" for i in range(35)), theme.LIGHT)
    assert len({(style.color, tuple(style.dash)) for style in styled}) == 35


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


def test_every_color_of_the_page_is_defined_in_light_and_dark() -> None:
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", repr(theme.PAGE)))
    assert len(used) > len(theme.LIGHT.series)
    for palette in (theme.LIGHT, theme.DARK):
        assert set(re.findall(r"(--[a-z0-9-]+):", palette.css())) == used
