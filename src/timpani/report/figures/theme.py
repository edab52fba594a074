"""How every figure looks: colors that color-blind readers can distinguish, dashes, shapes by status, axes, labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import altair as alt
import polars as pl

from timpani.report.figures.columns import OK, SEPARATOR, is_default, ordered, shapes
from timpani.study.schema import LOCALITY

Chart = alt.LayerChart | alt.FacetChart

WIDTH = 640
"""Width of a figure's plot in files, pixels; the page fits it to the reader's window."""

DEFAULT_WIDTH, OTHER_WIDTH = 2.6, 1.6
"""Widths of the default's curve and of any other, pixels."""

DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3])
"""Dash patterns, pixels on and off. Five dashes and seven hues repeat together only after 35 algorithms."""

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"


@dataclass(frozen=True)
class Palette:
    """The colors of one appearance.

    text     titles, labels, the default's curve      faster, slower  times that differ significantly
    quiet    axis labels                              unsure          differences that may be chance
    rule     grid and axis lines                      paper           the background
    series   seven hues, in the order algorithms take them
    numbers  of `style_numbers`: the style of each label, the same in all figures that are drawn with this palette
    """

    text: str
    quiet: str
    rule: str
    paper: str
    faster: str
    slower: str
    unsure: str
    series: tuple[str, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)

    def css(self) -> str:
        """Declarations of the CSS variables that `PAGE` refers to."""
        plain = [f"--{name}: {getattr(self, name)};" for name in _SINGLE]
        return " ".join([*plain, *(f"--series-{i}: {color};" for i, color in enumerate(self.series))])


_SINGLE = tuple(field.name for field in fields(Palette) if field.name not in ("series", "numbers"))
"""The fields of a palette that are one color each."""

# Okabe and Ito's palette (jfly.uni-koeln.de/color, 2008); on white its yellow is darkened, on black its blue lightened.
LIGHT = Palette(
    text="#1b1b1b",
    quiet="#555555",
    rule="#dddddd",
    paper="#ffffff",
    faster="#0072b2",
    slower="#d55e00",
    unsure="#9a9a9a",
    series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b5a300"),
)
DARK = Palette(
    text="#ececec",
    quiet="#b0b0b0",
    rule="#3c3f44",
    paper="#17191c",
    faster="#56b4e9",
    slower="#e8803a",
    unsure="#808080",
    series=("#3d9be0", "#e8803a", "#1fc296", "#d998bb", "#e69f00", "#8ccdf2", "#f0e442"),
)
PAGE = Palette(
    **{name: f"var(--{name})" for name in _SINGLE},
    series=tuple(f"var(--series-{i})" for i in range(len(LIGHT.series))),
    numbers={},
)
"""Colors left to the page's style sheet, so that dark mode and print change a figure that is already drawn."""


@dataclass(frozen=True)
class Style:
    """How one algorithm's curve is drawn: `dash` is pixels on and off, `width` pixels."""

    label: str
    color: str
    dash: list[int]
    width: float


def styles(labels: Iterable[str], palette: Palette) -> list[Style]:
    """A style per distinct label, in order; the default's curve is thick and in the color of the text.

    An algorithm takes the style of its number in the palette, or, if the palette has none, of its place in the order.
    Several labels of one algorithm, such as `linear, core` and `linear, node`, have its color and different dashes.
    """
    names = ordered(labels)
    defaults = sum(map(is_default, names))
    hues, seen, found = len(palette.series), Counter[str](), []
    for i, name in enumerate(names):
        algorithm = next((part for part in (name, *name.split(SEPARATOR)) if part in palette.numbers), name)
        if is_default(name):
            found.append(Style(name, palette.text, DASHES[i % len(DASHES)], DEFAULT_WIDTH))
        else:
            number = palette.numbers.get(algorithm, i - defaults) + hues * seen[algorithm]
            found.append(Style(name, palette.series[number % hues], DASHES[number % len(DASHES)], OTHER_WIDTH))
        seen[algorithm] += 1
    return found


def style_numbers(groups: Iterable[Iterable[str]]) -> dict[str, int]:
    """A number for each label, by which all figures of a report give it the same color and dash.

    Labels of one group have different numbers as long as there are enough, and different hues as far as possible.

    groups  the labels that can stand in one figure, a group for each operation
    """
    neighbors: dict[str, set[str]] = {}
    for group in groups:
        members = {label for label in group if not is_default(label)}
        for label in members:
            neighbors.setdefault(label, set()).update(members)
    hues = len(LIGHT.series)
    numbers: dict[str, int] = {}
    for label in ordered(neighbors):
        near = [numbers[other] for other in neighbors[label] if other in numbers]
        near_hues = [number % hues for number in near]
        taken = set(numbers.values())
        numbers[label] = min(
            range(hues * len(DASHES)),
            key=lambda number: (number in near, near_hues.count(number % hues), number in taken, number),
        )
    return numbers


def color(styled: list[Style], legend: alt.Legend | None = None, field: str = "label") -> alt.Color:
    """The algorithms' colors by `field`."""
    return alt.Color(f"{field}:N", scale=colors(styled), legend=legend)


def colors(styled: list[Style]) -> alt.Scale:
    """From labels to their colors."""
    return alt.Scale(domain=[s.label for s in styled], range=[s.color for s in styled])


def dash(styled: list[Style], legend: alt.Legend | None = None, field: str = "label") -> alt.StrokeDash:
    """The algorithms' dashes by `field`; a legend must be the one of their colors."""
    scale = alt.Scale(domain=[s.label for s in styled], range=[s.dash for s in styled])
    return alt.StrokeDash(f"{field}:N", scale=scale, legend=legend)


def dash_of_others(names: Sequence[str], field: str, legend: alt.Legend | None = None) -> alt.StrokeDash:
    """Dashes, in their order, for the names in `field` of what is no algorithm and therefore has no color."""
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    return alt.StrokeDash(f"{field}:N", scale=alt.Scale(domain=list(names), range=dashes), legend=legend)


CHARACTER = 6.2
"""Pixels of a letter of a name in a figure, about."""

_SYMBOL = 50  # pixels of a legend's symbol and gaps
_COLUMN_PADDING = 24  # pixels


def legend_columns(names: Iterable[str], width: float = WIDTH) -> int:
    """The columns of a legend of these names that fit in `width` pixels.

    Columns are laid out with one font and may be shown with a wider one.
    """
    longest = CHARACTER * max(map(len, names), default=0) + _SYMBOL
    return max(1, min(4, int(width / longest)))


def legend(names: Iterable[str], **options: Any) -> alt.Legend:
    """A legend of these names, in as many columns as fit below the plot."""
    return alt.Legend(**{"title": None, "columns": legend_columns(names), "columnPadding": _COLUMN_PADDING, **options})


def color_of_others(colors: Mapping[str, str], field: str, present: Iterable[str], **legend_options: Any) -> alt.Color:
    """The colors of names in `field` that are no algorithms: those that are `present`, in the order of `colors`."""
    names = set(present)
    found = {name: color for name, color in colors.items() if name in names}
    scale = alt.Scale(domain=list(found), range=list(found.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=legend(found, **legend_options))


OF_POINTS = {"symbolType": "circle", "symbolOpacity": 1}
OF_LINES = {"symbolType": "stroke", "symbolSize": 300, "symbolOpacity": 1}
"""Options of `legend`; a line is as long as a dash and a gap of the longest."""


_TITLES = {
    "label": "algorithm",
    "message_bytes": "message bytes",
    "where": "ranks and placement",
    "placement": "placed by",
    "first": "rank",
    "second": "and rank",
    "best_label": "best",
    "tied_with": "tied with it",
    "best_us": "best (µs)",
    "default_us": "default (µs)",
    "median_us": "median (µs)",
    "time_us": "time (µs)",
    "predicted_us": "predicted (µs)",
    "throughput_mb_per_s": "throughput (MB/s)",
    "percent": "spread (%)",
    "evidence": "log10 of the odds for it",
    "ci_low_us": "interval from (µs)",
    "ci_high_us": "interval to (µs)",
    "low_us": "interval from (µs)",
    "high_us": "interval to (µs)",
    "ratio_low": "from",
    "ratio_high": "to",
}
_WORDS = ("label", "status", "placement", "where", "outcome", "bimodal", "best_label", "tied_with", LOCALITY)
_COUNTS = ("message_bytes", "ranks", "launches", "first", "second")


def tooltip(columns: str, **titles: str) -> list[alt.Tooltip]:
    """What is shown of a row where the pointer is: `columns` between spaces, `titles` of those with an unusual one."""
    return [
        alt.Tooltip(
            f"{column}:{'N' if column in _WORDS else 'Q'}",
            title=titles.get(column, _TITLES.get(column, column)),
            format=alt.Undefined if column in (*_WORDS, *_COUNTS) else ".4~r",
        )
        for column in columns.split()
    ]


def panels(panel: alt.LayerChart, rows: pl.DataFrame, title: str | list[str] | None = None) -> alt.FacetChart:
    """`panel` once for each label of `rows`, three in a line; names longer than it is wide are broken."""
    broken = r"split(replace(datum.label, /(.{8,24}[\/:,]|.{12,22}_)/g, '$1\n'), '\n')"
    header = alt.Header(labelAnchor="start", labelPadding=4, labelExpr=broken, titleAnchor="start")
    names = alt.Facet("label:N", title=title, sort=ordered(rows["label"]), header=header)
    return panel.facet(facet=names, columns=3, data=rows)


class _Layers(alt.LayerChart):
    """Layers that are whole as they are given. Altair's own copies all that is in each of them whenever it is made,
    and so whenever a layer is added, a transform, or the whole is written: most of the time that a figure took."""

    def __init__(self, data: Any = alt.Undefined, layer: Iterable[Any] = (), **options: Any) -> None:
        alt.TopLevelLayerSpec.__init__(self, data=data, layer=list(layer), **options)


def layer(*layers: alt.Chart | alt.LayerChart, **size: Any) -> alt.LayerChart:
    """`alt.layer`, for layers that have no parameters and belong to no other chart.

    As there, their data stands with the whole if all have the same, and so does their size.
    """
    whole = _Layers(**size)
    data = layers[0].data
    if all(each.data is data for each in layers):
        whole.data = data
        for each in layers:
            each.data = alt.Undefined
    for name in ("height", "width"):
        for each in layers:
            if each[name] is not alt.Undefined:
                whole[name], each[name] = each[name], alt.Undefined
    whole.layer = list(layers)
    return whole


_BETWEEN_PANELS = 44  # pixels: half a label such as `256 KiB` at the end of one axis and at the start of the next


def apply(chart: Chart, palette: Palette, description: str) -> Chart:
    """The chart with the report's axes, fonts and colors; `description` is read out by a screen reader."""
    if isinstance(chart, alt.FacetChart):
        chart.spacing = alt.RowColnumber(column=_BETWEEN_PANELS)
    # Set, not with properties() and configure(), which copy all layers, those within layers several times.
    chart.description = description
    chart.config = alt.Config(
        background=palette.paper,
        font=FONT,
        padding=6,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=palette.quiet,
            titleColor=palette.text,
            domainColor=palette.quiet,
            tickColor=palette.quiet,
            gridColor=palette.rule,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
        ),
        legend=alt.LegendConfig(
            labelColor=palette.text,
            titleColor=palette.text,
            symbolStrokeColor=palette.text,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            labelLimit=0,
            orient="bottom",
            columns=4,
        ),
        header=alt.HeaderConfig(
            labelColor=palette.text,
            titleColor=palette.text,
            labelFontSize=12,
            labelLimit=0,
            titleFontSize=12,
            titleFontWeight="normal",
        ),
        title=alt.TitleConfig(color=palette.text, anchor="start", fontSize=14, offset=12),
    )
    return chart


def shape(statuses: Iterable[str], palette: Palette) -> alt.Shape:
    """Point shapes by `status`; a legend names those that are not ok."""
    found = shapes(statuses)
    unusual = [status for status in found if status != OK]
    legend = alt.Legend(
        title=None,
        values=unusual,
        columns=1,  # it stands next to the legend of algorithms, and a status may be long
        labelExpr="replace(replace(datum.label, /_/g, ' '), /\\+/g, ', ')",
        symbolSize=60,
        symbolFillColor=palette.paper,
        symbolStrokeColor=palette.text,
        symbolStrokeWidth=1.4,
    )
    return alt.Shape(
        "status:N",
        scale=alt.Scale(domain=list(found), range=list(found.values())),
        legend=legend if unusual else None,
    )


def points(
    drawn: alt.Chart, statuses: Iterable[str], palette: Palette, sizes: tuple[int, int], **encoding: Any
) -> list[alt.Chart]:
    """A point for each row in the shape of its status: filled where that is ok, else hollow.

    sizes  areas of a filled and of a hollow one, square pixels
    """
    shapes, (filled, hollow) = shape(statuses, palette), sizes
    return [
        drawn.transform_filter(alt.datum.status == OK)
        .mark_point(size=filled, filled=True, opacity=1)
        .encode(shape=shapes, **encoding),
        drawn.transform_filter(alt.datum.status != OK)
        .mark_point(size=hollow, filled=False, fill=palette.paper, strokeWidth=1.4, opacity=1)
        .encode(shape=shapes, **encoding),
    ]


def corner_marks(base: alt.Chart, x: alt.X, y: alt.Y, statuses: Iterable[str], palette: Palette) -> alt.Chart:
    """The statuses that are not ok, each in the upper right corner of its cell in a map of `x` by `y`."""
    marks: alt.Chart = (
        base.transform_filter(alt.datum.status != OK)
        .mark_point(size=18, filled=False, color=palette.text, strokeWidth=1.2, opacity=1)
        .encode(
            x=x.copy().bandPosition(0.85),
            y=y.copy().bandPosition(0.2),
            shape=shape(statuses, palette),
        )
    )
    return marks
