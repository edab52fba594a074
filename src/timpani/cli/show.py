"""`timpani show`: a campaign as a table, in OSU's format, or as data; or a profile."""

import sys
from dataclasses import astuple, dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import typer

from timpani.campaign.folder.load import Statistic as StatisticName
from timpani.campaign.folder.load import load
from timpani.campaign.read.study_names import by_statistic, select_cells, with_study_names
from timpani.cli.terminal.forms import Form, ShownFormat, ShownOutput, options_of, print_or_write, run_form
from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import (
    Campaign,
    Force,
    Format,
    GivenMargins,
    Statistic,
    document_format,
    document_text,
    expand,
)
from timpani.errors import UserError
from timpani.judge.cell_table import cells_in_context
from timpani.report.document.blocks import Document
from timpani.report.document.formats import json_text
from timpani.report.tables.campaign_tables import campaign_tables, osu_blocks
from timpani.report.verdict.verdict_text import verdict_document, verdict_object
from timpani.slices import Hook

_option = partial(typer.Option, rich_help_panel="Only a part of it")
_DATA = (Format.json, Format.parquet)

SHOW_FORMS: Hook[Form] = Hook("SHOW_FORMS")


@dataclass(frozen=True)
class _Part:
    """Which cells, as typed."""

    operations: Annotated[str | None, _option("--operations", help="Only these: bcast,allreduce.")] = None
    algorithms: Annotated[str | None, _option(help="Only these, as the table names them: default,ring.")] = None
    ranks: Annotated[str | None, _option("--ranks", "-n", "-np", help="Only these.")] = None
    sizes: Annotated[str | None, _option(help="Only these: 8,64K, or FIRST:LAST for all between.")] = None


@dataclass(frozen=True)
class _How:
    """How the cells are shown, as typed."""

    format: ShownFormat = Format.text
    layout: Annotated[
        Literal["cells", "algorithms", "ranks"],
        typer.Option(
            help="cells: a row for each. algorithms: by size, algorithms next to each other. ranks: a table for each "
            "algorithm, by size, rank counts next to each other, as the studies have it.",
        ),
    ] = "cells"
    statistic: Statistic = None
    full: Annotated[
        bool, typer.Option("--full", "-f", help="With --format osu: minimum, maximum and iterations, like OSU's -f.")
    ] = False
    width: Annotated[
        float | None,
        typer.Option(
            metavar="MM",
            help="With --format latex: width of a line in millimeters, which tables fit.",
            min=40,
            max=1000,
            show_default="121, of the class article",
        ),
    ] = None
    output: ShownOutput = None
    force: Force = False

    @property
    def as_data(self) -> bool:
        """Whether all columns of docs/reference.md are asked for."""
        return self.format in _DATA or (self.format is Format.csv and self.layout == "cells")

    @property
    def shown(self) -> StatisticName:
        """The statistic that was typed, or that of the layout."""
        return self.statistic or ("osu" if self.layout == "ranks" else "completion")


def _show_campaign(folder: Path, how: _How, part: _Part) -> None:
    _check(how)
    if how.format is Format.parquet and how.output is None and sys.stdout.isatty():
        raise UserError("Parquet is binary and would garble a terminal", "write it into a file with -o FILE")
    print_or_write(_cells(folder, part, how), how.output, how.force)


_FORMS = (*SHOW_FORMS.added(), Form("a campaign", lambda folder, typed: True, (_How, _Part), _show_campaign))


@expand(options=options_of(_FORMS))
def show(*, folder: Campaign = None, options: Any) -> None:
    """Show a campaign, with one row for each cell (its estimate over all launches); or show a program's profile."""
    run_form(_FORMS, campaign_or_newest(folder), options)


def _cells(folder: Path, part: _Part, how: _How) -> bytes:
    """The chosen cells of a campaign as they are to be shown."""
    campaign = load(folder)
    if not how.as_data and how.format is not Format.osu:
        campaign = with_study_names(by_statistic(campaign, how.shown))
    cells = select_cells(cells_in_context(campaign), *astuple(part))
    if how.as_data:
        return _data(cells, how.format)
    if how.format is Format.osu:
        return osu_blocks(cells, how.full, campaign.header.study.datatype_of).encode()
    tables = Document(campaign.header.study.title, tuple(campaign_tables(campaign, cells, how.layout)))
    return document_text(tables, how.format, how.width).encode()


def _check(how: _How) -> None:
    """UserError for options that contradict each other."""
    if how.width is not None and how.format is not Format.latex:
        raise UserError(f"--width is not for --format {how.format}", "use it with --format latex")
    if how.full and how.format is not Format.osu:
        raise UserError(f"--full is not for --format {how.format}", "use it with --format osu")
    if how.layout != "cells" and (how.format in _DATA or how.format is Format.osu):
        raise UserError(f"--format {how.format} has one layout", "leave out --layout, or choose another format")
    if how.statistic is not None and how.as_data:
        raise UserError(
            f"--format {how.format} has both statistics, as median_us and osu_avg_us",
            "leave out --statistic, or choose --layout ranks",
        )
    if how.statistic == "completion" and how.format is Format.osu:
        raise UserError("--format osu prints OSU's average", "leave out --statistic, or choose another format")


def _data(cells: pl.DataFrame, format: Format) -> bytes:
    """The cells with all columns of docs/reference.md."""
    match format:
        case Format.csv:
            return cells.write_csv().encode()
        case Format.json:
            return cells.write_json().encode() + b"\n"
        case _:
            buffer = BytesIO()
            cells.write_parquet(buffer)
            return buffer.getvalue()


@expand(margins=GivenMargins)
def verdict(
    *,
    folder: Campaign = None,
    format: Annotated[
        Format,
        document_format("json has every point: standing, ratio, interval, launches, setting."),
    ] = Format.text,
    details: Annotated[
        bool, typer.Option("--details", help="Add each operation, how sure the answer is, and all warnings.")
    ] = False,
    margins: GivenMargins,
) -> None:
    """Print the verdict of a campaign: where the default is fine, what is faster at other points, and how to set it."""
    campaign = margins.judged(load(campaign_or_newest(folder)))
    if format is Format.json:
        typer.echo(json_text(verdict_object(campaign)), nl=False)
    else:
        typer.echo(document_text(verdict_document(with_study_names(campaign), details), format), nl=False)
