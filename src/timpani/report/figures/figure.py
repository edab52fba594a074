"""A figure of the report, as a file of this folder states it; docs/how-to/add-a-chart.md shows one."""

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module

import polars as pl

from timpani.errors import unknown
from timpani.report.figures.theme import Chart


@dataclass(frozen=True)
class Section:
    """A section of the page.

    id      its anchor
    about   the paragraph under its title, or what makes it from the report's table `cells`
    absent  why it is not there, where none of its figures has rows
    of      the rows of `cells` that it could be of: without any, nobody looks for it
    """

    id: str
    title: str
    about: str | Callable[[pl.DataFrame], str] = ""
    absent: str = ""
    of: pl.Expr = field(default_factory=lambda: pl.lit(True), compare=False)


MODELS = Section("models", "Models: latency, throughput, switches")
"""A section of the report's own, whose tables stand between the figures of `fits` and all others in it."""


@dataclass(frozen=True)
class Figure:
    """A figure, drawn once for each operation that has rows for it.

    name        of the figure and its files; the operation's name follows it
    section     where it stands; several figures may share one
    place       figures, and with them sections, come in ascending order; the report's own tables stand from 100 to 120
    table       one of `report/page/contents.py`: `cells`, `every_cell`, `competitors`, `messages`, `decisions`, `fits`
    draw        makes the chart from rows of the table, in the colors it is given
    linear_too  whether the reader may choose linear axes: `draw` then takes `linear`
    shows       what its title says behind the operation's name, where an operation has several figures in a section
    rows        which rows of the table are drawn
    chosen_by   columns of which the reader chooses one value each
    switchable  whether the reader can take each `label` out
    measure     a row without a value in this column is not drawn; small panels are counted by it
    decided_by  the column that is true in rows in which something is decided: the page draws no small panel for a
                `label` without such a row
    undecided   what the page says of these labels in place of their panels
    """

    name: str
    section: Section
    place: int
    table: str
    draw: Callable[..., Chart]
    chosen_by: tuple[str, ...]
    linear_too: bool = False
    shows: str = ""
    rows: pl.Expr = field(default_factory=lambda: pl.lit(True), compare=False)
    switchable: bool = False
    measure: str = "median_us"
    decided_by: str = ""
    undecided: str = ""


def figures() -> list[Figure]:
    """All figures of the report, in the order in which they stand in it: those that files of this folder define."""
    folder = import_module(__name__.rpartition(".")[0])
    modules = (import_module(f"{folder.__name__}.{file.name}") for file in pkgutil.iter_modules(folder.__path__))
    found = {each.name: each for module in modules for each in vars(module).values() if isinstance(each, Figure)}
    return sorted(found.values(), key=lambda figure: figure.place)


def check_figure_names(named: Iterable[str], source: str) -> None:
    """UserError where one of the families that `source` names in [figures] does not exist."""
    families = [figure.name for figure in figures()]
    for name in named:
        if name not in families:
            raise unknown(f"figure in {source}", name, families, "docs/study-files.md#figures")
