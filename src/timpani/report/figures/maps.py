"""Maps of algorithms by message size: which is best, and how far its launches spread."""

import json

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme
from timpani.report.figures.columns import CALLS, CONDITIONS, is_default, ordered, several
from timpani.report.figures.figure import Figure, Section
from timpani.report.figures.theme import corner_marks
from timpani.study.cell import VARIANT_SIGN

TIE = "tie"
_ROW_HEIGHT = 30

_MAX_NUMBERS = 2
"""Algorithms of a tie whose numbers stand in its cell; further ones are an ellipsis, and names in the tooltip."""


def _hatching(squares: int) -> str:
    """The SVG path of diagonals that fill a centered rectangle, `squares` squares of side 2 wide and one high."""
    spacing = 0.5
    diagonals = [spacing * step - (squares + 1) for step in range(1, int(2 * (squares + 1) / spacing))]
    ends = [(max(-squares, c - 1), min(squares, c + 1), c) for c in diagonals]
    return "".join(f"M{left:g},{c - left:g}L{right:g},{c - right:g}" for left, right, c in ends)


_WIDEST = 4
_HATCH = (
    f"{json.dumps([_hatching(squares) for squares in range(1, _WIDEST + 1)])}"
    f"[clamp(floor((bandwidth('x') - 4) / (bandwidth('y') - 4)), 1, {_WIDEST}) - 1]"
)
"""A Vega expression: marks, not an SVG pattern, so that hatching survives every file format and printer."""


def algorithm_map(decisions: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A colored, numbered cell per rank count and size; a tie is gray and hatched, and has the numbers of several.

    decisions  columns of `decide` that have a verdict, and the best cell's `status`; a row per rank count and size
    """
    decisions = with_key(decisions)
    numbers = _numbers(decisions)
    labels = theme.styles(numbers, palette)
    defaults = [style.label for style in labels if is_default(style.label)]
    keys = {label: _legend(number, label) for label, number in numbers.items()}
    columns = axes.size_column()
    lines = alt.Y("ranks:O", sort="descending", axis=alt.Axis(title="Ranks", titleAngle=0, titleY=-10, titleX=-20))
    base = alt.Chart(decisions).encode(x=columns, y=lines)
    winner = base.mark_rect(stroke=palette.paper, strokeWidth=1.5).encode(
        fill=alt.Fill(
            "legend:N",
            scale=alt.Scale(
                domain=[keys[style.label] for style in labels],
                range=[style.color for style in labels],
            ),
            legend=theme.legend(keys.values(), title="best", symbolType="square", symbolStrokeWidth=0),
            condition=[{"test": alt.datum.verdict == TIE, "value": palette.unsure}],
        ),
        opacity=alt.OpacityValue(
            0.8,
            condition=[
                {"test": alt.datum.verdict == TIE, "value": 0.3},
                {"test": {"field": "best_label", "oneOf": defaults}, "value": 0.45},  # its number is as dark as it is
            ],
        ),
        tooltip=theme.tooltip("message_bytes ranks best_label tied_with best_us default_us status"),
    )
    hatch = (
        base.transform_filter(alt.datum.verdict == TIE)
        .mark_point(
            shape=alt.expr(_HATCH),
            size=alt.expr("pow(min(bandwidth('x'), bandwidth('y')) - 4, 2)"),
            filled=False,
            stroke=palette.text,
            strokeWidth=0.8,
            opacity=0.7,
        )
        .encode()
    )
    flagged = corner_marks(base, columns, lines, decisions["status"], palette)
    chart = theme.layer(
        winner,
        hatch,
        *_written(base, palette),
        flagged,
        width=axes.map_width(decisions["message_bytes"].n_unique()),
        height=_ROW_HEIGHT * decisions["ranks"].n_unique(),
    )
    return theme.apply(chart, palette, "Best algorithm at each rank count and message size; ties are hatched")


def _written(base: alt.Chart, palette: theme.Palette) -> list[alt.Chart]:
    """The numbers, on a halo that keeps them apart from the hatching; those of ties are smaller."""
    size = alt.SizeValue(11, condition=[{"test": alt.datum.verdict == TIE, "value": 10}])
    key = base.encode(text=alt.Text("key:N"), size=size)
    halo = key.mark_text(
        fontWeight="bold", color=palette.text, stroke=palette.paper, strokeWidth=2.5, strokeJoin="round"
    )
    return [halo, key.mark_text(fontWeight="bold", color=palette.text)]


def with_key(decisions: pl.DataFrame) -> pl.DataFrame:
    """The decisions with three columns.

    key        the best algorithm's number; of a tie the numbers of several, `1=3`, or of more than _MAX_NUMBERS `1=3…`
    legend     the best algorithm's number and name
    tied_with  the names of the others in a tie
    """
    numbers = _numbers(decisions)
    rows = decisions.select("best_label", "verdict", "tied").iter_rows()
    return decisions.with_columns(
        key=pl.Series([_key(numbers, *row) for row in rows], dtype=pl.String),
        legend=pl.Series([_legend(numbers[best], best) for best in decisions["best_label"]], dtype=pl.String),
        tied_with=pl.when(pl.col("tied").list.len() > 1)
        .then(pl.col("tied").list.slice(1).list.join(", "))
        .otherwise(pl.lit("nothing")),
    )


def _numbers(decisions: pl.DataFrame) -> dict[str, int]:
    """The number of each algorithm that is best somewhere, alone or among those that a tie's cell names."""
    ties = decisions.filter(pl.col("verdict") == TIE)["tied"].list.head(_MAX_NUMBERS).explode().drop_nulls()
    labels = ordered([*decisions["best_label"], *ties])
    return {label: number for number, label in enumerate(labels, start=1)}


def _legend(number: int, label: str) -> str:
    return f"{number}  {label}"


def _key(numbers: dict[str, int], best: str, verdict: str, tied: list[str]) -> str:
    if verdict != TIE:
        return str(numbers[best])
    shown = "=".join(map(str, sorted(numbers[label] for label in tied[:_MAX_NUMBERS])))
    return f"{shown}…" if len(tied) > _MAX_NUMBERS else shown


def _caption(cells: pl.DataFrame) -> str:
    names = cells["label"].str.contains(VARIANT_SIGN, literal=True)
    of_variants = f" In names the variant of the settings follows {VARIANT_SIGN}." if names.any() else ""
    return (
        "The best algorithm at each rank count and size, by number and color. Hatched gray cells are ties: they show "
        f"the numbers of tied algorithms, and … for further ones.{of_variants}"
    )


_HAS_VARIANTS = pl.col("tied").list.join(" ").str.contains(VARIANT_SIGN, literal=True).any().over("collective")
"""Rows of operations with a setting among the best: their map says more than its one row of ranks."""

ALGORITHM_MAP = Figure(
    name="algorithm-map",
    section=Section(
        "map",
        "Best algorithm by ranks and size",
        _caption,
        absent="one rank count was measured",
        of=CALLS,
    ),
    place=40,
    table="decisions",
    draw=algorithm_map,
    rows=several("ranks", within=("collective", CONDITIONS)) | _HAS_VARIANTS,
    chosen_by=(CONDITIONS,),
)
_LABEL_HEIGHT = 24
_DARKEST = 25  # per cent; fixed, so that reports can be compared by eye


def relative_mad(cells: pl.DataFrame, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A cell per algorithm and size with its relative MAD in per cent, the darker the larger; bimodal ones are framed.

    cells  columns of `estimate_cells`; `relative_mad` is a share; a row per label and size
    """
    names = [style.label for style in theme.styles(cells["label"], palette)]
    columns = axes.size_column()
    lines = alt.Y("label:N", sort=names, axis=alt.Axis(title=None, labelLimit=220))
    base = alt.Chart(cells).transform_calculate(percent="datum.relative_mad * 100").encode(x=columns, y=lines)
    measured = base.transform_filter("isValid(datum.relative_mad)")
    shade = measured.mark_rect(color=palette.text, stroke=palette.paper, strokeWidth=1).encode(
        # opacity, not color, so that the page's style sheet can turn it dark
        fillOpacity=alt.FillOpacity(
            "percent:Q", scale=alt.Scale(type="sqrt", domain=[0, _DARKEST], clamp=True, range=[0.02, 0.5]), legend=None
        ),
        tooltip=theme.tooltip("label message_bytes percent launches bimodal status"),
    )
    number = measured.mark_text(
        fontSize=10, color=palette.text, opacity=alt.expr("bandwidth('x') < 15 ? 0 : 1")
    ).encode(text=alt.Text("percent:Q", format=".2~r"))
    framed = measured.transform_filter(alt.datum.bimodal).mark_rect(
        filled=False, stroke=palette.slower, strokeWidth=1.8
    )
    flagged = corner_marks(base, columns, lines, cells["status"], palette)
    chart = theme.layer(
        shade,
        number,
        framed,
        flagged,
        width=axes.map_width(cells["message_bytes"].n_unique()),
        height=_LABEL_HEIGHT * len(names),
    )
    return theme.apply(chart, palette, "Spread between launches in per cent, by algorithm and message size")


SPREAD = Figure(
    name="spread",
    section=Section(
        "spread",
        "Spread between launches",
        "The median absolute deviation of a cell’s launch medians, in per cent of their median: darker is wider. A "
        "framed cell is bimodal: its launches form two groups, and the median describes only one.",
        absent="nothing was measured in several launches",
    ),
    place=150,
    table="cells",
    draw=relative_mad,
    rows=(pl.col("relative_mad").is_not_null() & (pl.col("launches") > 1)).any().over("collective"),
    chosen_by=("ranks", CONDITIONS),
)
