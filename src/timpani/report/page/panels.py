"""Each figure of a campaign's report for each of its operations, and the choices that a reader has in it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import altair as alt
import polars as pl
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from timpani.report.figures.columns import COMPETITOR, SETTING, VARIANT, WITHOUT_VARIANT, ordered
from timpani.report.figures.drawn_figures import drawn_svg
from timpani.report.figures.figure import Figure
from timpani.report.figures.theme import PAGE, Chart, Palette, Style, styles
from timpani.study.operations import title_of
from timpani.study.sizes import show_size
from timpani.study.words import counted

_FIGURE_PADDING = 6  # pixels around a figure

_FONT = re.compile(r' font-family="[^"]*"')
"""The page sets the font."""


def static_svg(specification: dict[str, Any], name: str, labels: Iterable[str] = ()) -> str:
    """A Vega-Lite specification with its data, drawn.

    name    of the figure, which makes its identifiers unique in the page
    labels  next to the plot: a pixel for each character, since the reader's font may be wider than the one drawn with
    """
    side = _FIGURE_PADDING + max(map(len, labels), default=0)
    padding = {"left": side, "right": side, "top": _FIGURE_PADDING, "bottom": _FIGURE_PADDING}
    svg = drawn_svg(specification | {"padding": padding})
    return re.sub(r'(\bid="|url\(#)', rf"\g<1>{name}-", _FONT.sub("", svg))


def drawn_once(chart: Chart, name: str, labels: Iterable[str]) -> Markup:
    """A chart with its data as the page shows it, without choices; the rest as of `static_svg`."""
    with alt.data_transformers.enable("default", max_rows=None):
        return Markup(static_svg(chart.to_dict(), name, labels))  # noqa: S704 Vega escapes the texts in it


ALGORITHMS = ("label", COMPETITOR, WITHOUT_VARIANT)
"""Columns that name algorithms."""

_TITLES = {"message_bytes": "Size", SETTING: "Conditions", **dict.fromkeys(ALGORITHMS, "Algorithm")}
"""Titles of the columns whose name is no title."""


@dataclass(frozen=True)
class Selector:
    """One choice of the reader: rows whose `column` equals the value are drawn. options: value → what it is called."""

    column: str
    title: str
    options: dict[int | str, str]
    chosen: int | str


@dataclass(frozen=True)
class Panel:
    """A figure for one operation.

    frame    its rows for every choice of the selectors
    numbers  of `style_numbers`, the same for all panels of a report
    """

    figure: Figure
    collective: str
    frame: pl.DataFrame
    selectors: tuple[Selector, ...]
    numbers: Mapping[str, int]

    @property
    def name(self) -> str:
        return f"{self.figure.name}-{self.collective}"

    @property
    def title(self) -> str:
        return ", ".join(filter(None, [title_of(self.collective), self.figure.shows]))

    @property
    def curves(self) -> list[Style]:
        """The algorithms that the reader can switch, as they are drawn."""
        return styles(self.frame["label"], self._numbered(PAGE)) if self.figure.switchable else []

    def chart(self, rows: pl.DataFrame, palette: Palette, linear: bool) -> Chart:
        """The figure of some of the frame's rows, on linear axes where it can be."""
        axes = {"linear": linear} if self.figure.linear_too else {}
        with debug_mode(False):  # which validates each part where it is made; the tests validate every figure
            return self.figure.draw(rows, self._numbered(palette), **axes)

    def _numbered(self, palette: Palette) -> Palette:
        return replace(palette, numbers=self.numbers)

    @property
    def undecided(self) -> list[str]:
        """The labels for which nothing is decided among the rows that the reader sees first."""
        if not self.figure.decided_by:
            return []
        rows = self._shown_first().filter(pl.col(self.figure.measure).is_not_null())
        decided = rows.filter(pl.col(self.figure.decided_by))
        return ordered(set(rows["label"]) - set(decided["label"]))

    def svg(self, linear: bool = False) -> str:
        """The figure that the reader sees first; empty where nothing is decided in it."""
        rows = self._shown_first()
        if self.figure.decided_by:
            rows = rows.filter(pl.col(self.figure.measure).is_not_null(), ~pl.col("label").is_in(self.undecided))
        if rows.is_empty():
            return ""
        specification = self.specifications[linear and self.figure.linear_too]
        data = {"values": rows.select(self.columns).to_dicts()}
        return static_svg(specification | {"data": data}, self.name, rows["label"] if "label" in rows.columns else ())

    def _shown_first(self) -> pl.DataFrame:
        return self.frame.filter(pl.col(column) == value for column, value in self.first_values.items())

    @cached_property
    def specifications(self) -> dict[bool, dict[str, Any]]:
        """The figure's Vega-Lite for the page, by whether its axes are linear.

        Without data: the page has these once for all figures.
        """
        return {linear: self._specification(linear) for linear in {False, self.figure.linear_too}}

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the frame that its specifications name, and those by which a reader chooses."""
        texts = json.dumps([*self.specifications.values()])
        named = {*re.findall(r'"(\w+)"', texts), *re.findall(r"datum\.(\w+)", texts)}
        named |= {"collective", "label", *self.figure.chosen_by, self.figure.measure, self.figure.decided_by}
        return [column for column in self.frame.columns if column in named]

    def _specification(self, linear: bool) -> dict[str, Any]:
        chart = self.chart(self.frame, PAGE, linear)
        chart.data = alt.NamedData(name="rows")
        return dict(chart.to_dict(validate=False))

    @property
    def first_values(self) -> dict[str, int | str]:
        """What the selectors have chosen when the reader opens the page."""
        return {selector.column: selector.chosen for selector in self.selectors}

    def choices(self) -> Iterator["PanelChoice"]:
        """Every combination of the selectors' values for which there are rows."""
        for values in product(*(selector.options for selector in self.selectors)):
            chosen = list(zip(self.selectors, values, strict=True))
            rows = self.frame.filter(pl.col(selector.column) == value for selector, value in chosen)
            if rows.height:
                yield PanelChoice(
                    title=", ".join([self.title, *(selector.options[value] for selector, value in chosen)]),
                    name="-".join(
                        [self.collective, *(selector.options[v] for selector, v in chosen if len(selector.options) > 1)]
                    ),
                    rows=rows,
                    values={selector.column: value for selector, value in chosen},
                )


@dataclass(frozen=True)
class PanelChoice:
    """One choice of a panel's selectors: the title and the name of its figure within the figure's family, the rows that
    it is drawn from, and the value of each selector's column."""

    title: str
    name: str
    rows: pl.DataFrame
    values: Mapping[str, int | str]


def panels(figure: Figure, table: pl.DataFrame, numbers: Mapping[str, int]) -> list[Panel]:
    """A panel per operation that has rows for the figure in its `table`."""
    return [
        Panel(figure, str(name), part, tuple(_selectors(figure, part)), numbers)
        for (name,), part in table.filter(figure.rows).group_by("collective", maintain_order=True)
    ]


def _selectors(figure: Figure, frame: pl.DataFrame) -> Iterator[Selector]:
    for column in figure.chosen_by:
        if column != VARIANT or frame[column].n_unique() > 1:
            yield _selector(column, frame)


def _selector(column: str, frame: pl.DataFrame) -> Selector:
    values = frame[column].unique().sort().to_list()
    title = _TITLES.get(column, column.replace("_", " ").capitalize())
    if column == "message_bytes":
        return Selector(column, title, {value: show_size(value) for value in values}, values[len(values) // 2])
    if column == "ranks":
        return Selector(column, title, {value: counted(value, "rank") for value in values}, _most_ranks(frame))
    if column in (*ALGORITHMS, VARIANT):
        values = ordered(values)
    return Selector(column, title, {value: str(value) for value in values}, values[0])


def _most_ranks(frame: pl.DataFrame) -> int:
    """The largest rank count that had a core for each rank, else the largest."""
    crowded = frame.filter(pl.col("status").str.contains("oversubscribed"))
    fitting = set(frame["ranks"].unique()) - set(crowded["ranks"].unique())
    return int(max(fitting or set(frame["ranks"].unique())))
