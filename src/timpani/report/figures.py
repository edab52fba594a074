"""The figures of a campaign: which there are, what each is drawn from, and what its reader may choose."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import altair as alt
import polars as pl

from timpani.charts.algorithm_map import algorithm_map
from timpani.charts.fitted import fitted
from timpani.charts.latency_against_ranks import latency_against_ranks
from timpani.charts.latency_against_size import latency_against_size
from timpani.charts.message_latency import message_latency
from timpani.charts.pair_matrix import pair_matrix
from timpani.charts.placements import placements
from timpani.charts.residuals import residuals
from timpani.charts.speedup import speedup
from timpani.charts.spread import spread
from timpani.charts.theme import PAGE, Figure, Ink, Style, styles
from timpani.charts.throughput_against_size import throughput_against_size
from timpani.charts.transpose_cost import transpose_cost
from timpani.study.operations import title_of
from timpani.study.schema import MACHINE_CELL, POINT
from timpani.study.sizes import show_size

CONDITIONS = "conditions"
SETTING = "setting"
_TITLES = {CONDITIONS: "Conditions", SETTING: "Conditions", "formula": "Formula"}


@dataclass(frozen=True)
class Selector:
    """One choice of the reader: rows whose `column` equals the value are drawn. options: value → what it is called."""

    column: str
    title: str
    options: dict[int | str, str]
    chosen: int | str


@dataclass(frozen=True)
class Kind:
    """A kind of figure: `draw` makes a chart of the rows of `table`, one of the page's, that selectors leave.

    measure  the column without which a row is not drawn; small panels are counted by it
    """

    name: str
    table: str
    draw: Callable[[pl.DataFrame, Ink], Figure]
    selected: tuple[str, ...]
    switchable: bool = False
    measure: str = "median_us"


LATENCY_AGAINST_SIZE = Kind("latency-against-size", "cells", latency_against_size, ("ranks", CONDITIONS), True)
LATENCY_AGAINST_RANKS = Kind(
    "latency-against-ranks", "cells", latency_against_ranks, ("message_bytes", CONDITIONS), True
)
ALGORITHM_MAP = Kind("algorithm-map", "decisions", algorithm_map, (CONDITIONS,))
PLACEMENTS = Kind("placements", "cells", placements, (SETTING,))
SPEEDUP = Kind("speedup", "cells", speedup, ("ranks", CONDITIONS), measure="ratio")
MESSAGE_LATENCY = Kind("message-latency", "messages", message_latency, ("ranks", CONDITIONS), True)
MESSAGE_THROUGHPUT = Kind("message-throughput", "messages", throughput_against_size, ("ranks", CONDITIONS), True)
PAIR_MATRIX = Kind("pair-matrix", "messages", pair_matrix, ("message_bytes", "ranks", CONDITIONS))
TRANSPOSE_THROUGHPUT = Kind("transpose-throughput", "cells", throughput_against_size, ("ranks", CONDITIONS), True)
TRANSPOSE_COST = Kind("transpose-cost", "cells", transpose_cost, ("ranks", CONDITIONS))
SPREAD = Kind("spread", "cells", spread, ("ranks", CONDITIONS))
FITTED = Kind("fitted", "fits", fitted, ("ranks", CONDITIONS), True)
RESIDUALS = Kind("residuals", "residuals", residuals, ("formula",), measure="residual")


@dataclass(frozen=True)
class Panel:
    """A kind of figure for one collective. frame: its rows for every choice of the selectors."""

    kind: Kind
    collective: str
    frame: pl.DataFrame
    selectors: tuple[Selector, ...]

    @property
    def name(self) -> str:
        return f"{self.kind.name}-{self.collective}"

    @property
    def title(self) -> str:
        return title_of(self.collective)

    @property
    def curves(self) -> list[Style]:
        """The algorithms that the reader can switch, as they are drawn."""
        return styles(self.frame["label"], PAGE) if self.kind.switchable else []

    def specification(self) -> dict[str, Any]:
        """The Vega-Lite of the figure on the page, without data: the page has them once for all figures."""
        chart = self.kind.draw(self.frame, PAGE)
        chart.data = alt.NamedData(name="rows")
        return dict(chart.to_dict(validate=False))  # the tests validate each kind; here it would take seconds

    def choices(self) -> Iterator["Choice"]:
        """Every choice of the selectors that leaves rows."""
        for values in product(*(selector.options for selector in self.selectors)):
            chosen = list(zip(self.selectors, values, strict=True))
            rows = self.frame.filter(pl.col(selector.column) == value for selector, value in chosen)
            if rows.height:
                yield Choice(
                    title=", ".join([self.title, *(selector.options[value] for selector, value in chosen)]),
                    name="-".join(
                        [self.name, *(selector.options[v] for selector, v in chosen if len(selector.options) > 1)]
                    ),
                    rows=rows,
                )


@dataclass(frozen=True)
class Choice:
    """One choice of a panel's selectors: the title and the name of its figure, and the rows that it is drawn from."""

    title: str
    name: str
    rows: pl.DataFrame


def with_conditions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `conditions`: placement, mode and machine in words; and `setting`, without the placement."""
    setting = pl.format("cache {}, machine {}", "mode", "machine")
    return frame.with_columns(
        pl.format("placed by {}, {}", "placement", setting).alias(CONDITIONS), setting.alias(SETTING)
    )


def with_speedup(cells: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """The cells of `estimate_cells` with what a comparison, such as `compare_with_default`, says of them."""
    return cells.join(
        compared.select(*MACHINE_CELL, "ratio", "ratio_low", "ratio_high", "significant"),
        on=MACHINE_CELL,
        how="left",
        maintain_order="left",
    )


def with_best_status(decisions: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """The decisions of `decide` that have a verdict, with `status`, the best cell's."""
    statuses = cells.select(*POINT, pl.col("label").alias("best_label"), "status").unique([*POINT, "best_label"])
    return decisions.filter(pl.col("verdict").is_not_null()).join(
        statuses, on=[*POINT, "best_label"], how="left", maintain_order="left"
    )


def panels(kind: Kind, frame: pl.DataFrame) -> list[Panel]:
    """A panel per collective of `frame`, the rows of the kind's table with `conditions`."""
    return [
        Panel(kind, str(name), part, tuple(_selector(column, part) for column in kind.selected))
        for (name,), part in frame.group_by("collective", maintain_order=True)
    ]


def _selector(column: str, frame: pl.DataFrame) -> Selector:
    values = sorted(set(frame[column]))
    if column == "message_bytes":
        return Selector(column, "Size", {value: show_size(value) for value in values}, values[len(values) // 2])
    if column == "ranks":
        return Selector(column, "Ranks", {value: f"{value} ranks" for value in values}, _most_ranks(frame))
    return Selector(column, _TITLES[column], {value: value for value in values}, values[0])


def _most_ranks(frame: pl.DataFrame) -> int:
    """The largest rank count that had a core for each rank, else the largest."""
    crowded = frame.filter(pl.col("status").str.contains("oversubscribed"))
    fitting = set(frame["ranks"]) - set(crowded["ranks"])
    return int(max(fitting or set(frame["ranks"])))
