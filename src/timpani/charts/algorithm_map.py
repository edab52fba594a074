"""Which algorithm is best at each rank count and message size."""

import json

import altair as alt
import polars as pl

from timpani.charts.marks import axes, theme
from timpani.charts.marks.figure import CONDITIONS, Figure, Section
from timpani.charts.marks.row_filter import CALLS, several
from timpani.charts.marks.status import corner_marks
from timpani.study.cell import VARIANT_SIGN

TIE = "tie"
_ROW_HEIGHT = 30


def _hatching(squares: int) -> str:
    """The SVG path of diagonals that fill a centred rectangle, `squares` squares of side 2 wide and one high."""
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
    """A coloured, numbered cell per rank count and size; a tie is pale and hatched.

    decisions  columns of `decide` that have a verdict, and the best cell's `status`; a row per rank count and size
    """
    decisions = with_key(decisions)
    labels = theme.styles(decisions["best_label"], palette)
    defaults = [style.label for style in labels if theme.is_default(style.label)]
    keys = {row["best_label"]: row["legend"] for row in decisions.select("best_label", "legend").unique().to_dicts()}
    columns = axes.size_column()
    lines = alt.Y("ranks:O", sort="descending", axis=alt.Axis(title="Ranks", titleAngle=0, titleY=-10, titleX=-20))
    base = alt.Chart(decisions).encode(x=columns, y=lines)
    winner = base.mark_rect(stroke=palette.paper, strokeWidth=1.5).encode(
        fill=alt.Fill(
            "legend:N",
            scale=alt.Scale(
                domain=[keys[style.label] for style in labels],
                range=[style.colour for style in labels],
            ),
            legend=theme.legend(keys.values(), title="best", symbolType="square", symbolStrokeWidth=0),
        ),
        opacity=alt.OpacityValue(
            0.8,
            condition=[
                {"test": alt.datum.verdict == TIE, "value": 0.3},
                {"test": {"field": "best_label", "oneOf": defaults}, "value": 0.45},  # its number is as dark as it is
            ],
        ),
        tooltip=_tooltip(),
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
    halo = base.mark_text(
        fontSize=11, fontWeight="bold", color=palette.text, stroke=palette.paper, strokeWidth=2.5, strokeJoin="round"
    ).encode(text=alt.Text("key:N"))
    key = base.mark_text(fontSize=11, fontWeight="bold", color=palette.text).encode(text=alt.Text("key:N"))
    flagged = corner_marks(base, columns, lines, decisions["status"], palette)
    chart = theme.layer(
        winner,
        hatch,
        halo,
        key,
        flagged,
        width=axes.map_width(decisions["message_bytes"].n_unique()),
        height=_ROW_HEIGHT * decisions["ranks"].n_unique(),
    )
    return theme.apply(chart, palette, "Best algorithm at each rank count and message size; ties are hatched")


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("message_bytes:Q", title="message bytes"),
        alt.Tooltip("ranks:Q", title="ranks"),
        alt.Tooltip("best_label:N", title="best"),
        alt.Tooltip("tied_with:N", title="tied with it"),
        alt.Tooltip("best_us:Q", title="best (µs)", format=".4~r"),
        alt.Tooltip("default_us:Q", title="default (µs)", format=".4~r"),
        alt.Tooltip("status:N", title="status"),
    ]


def with_key(decisions: pl.DataFrame) -> pl.DataFrame:
    """The decisions with `key`, the best algorithm's number, `legend`, with its name, and `tied_with`, other names."""
    keys = {label: str(number) for number, label in enumerate(theme.ordered(decisions["best_label"]), start=1)}
    return decisions.with_columns(key=pl.col("best_label").replace_strict(keys, return_dtype=pl.String)).with_columns(
        legend=pl.format("{}  {}", "key", "best_label"),
        tied_with=pl.when(pl.col("tied").list.len() > 1)
        .then(pl.col("tied").list.slice(1).list.join(", "))
        .otherwise(pl.lit("nothing")),
    )


def _about(cells: pl.DataFrame) -> str:
    names = cells["label"].str.contains(VARIANT_SIGN, literal=True)
    of_variants = f" In names the variant of the settings follows {VARIANT_SIGN}." if names.any() else ""
    return (
        "The best algorithm at each rank count and size, by number and color. Hatched cells are ties; their number is "
        f"that of the algorithm with the lowest median.{of_variants}"
    )


_HAS_VARIANTS = pl.col("tied").list.join(" ").str.contains(VARIANT_SIGN, literal=True).any().over("collective")
"""Rows of operations with a setting among the best: their map says more than its one row of ranks."""

FIGURE = Figure(
    name="algorithm-map",
    section=Section(
        "map",
        "Best algorithm by ranks and size",
        _about,
        absent="one rank count was measured",
        of=CALLS,
    ),
    place=40,
    table="decisions",
    draw=algorithm_map,
    columns=(
        *("collective", "ranks", "message_bytes", CONDITIONS, "verdict", "status"),
        *("best_label", "best_us", "default_us", "tied_with", "key", "legend"),
    ),
    rows=several("ranks", within=("collective", CONDITIONS)) | _HAS_VARIANTS,
    chosen_by=(CONDITIONS,),
)
