"""`timpani show`: a campaign as a table, in OSU's format, or as data; or a profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.newest_campaign import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force, Format, format_option

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from timpani.campaign.read.cell_selection import CellSelection

_ONLY = "Only a part of it"


def show(
    folder: Campaign = None,
    format: Annotated[
        Format,
        format_option(
            "latex is for the package booktabs; csv, json and parquet have the columns of docs/columns.md.",
            Format.table,
            Format.markdown,
            Format.latex,
            Format.osu,
            Format.csv,
            Format.json,
            Format.parquet,
        ),
    ] = Format.table,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write into this file.")] = None,
    full: Annotated[
        bool, typer.Option("--full", "-f", help="With --format osu: minimum, maximum and iterations, like OSU's -f.")
    ] = False,
    operations: Annotated[
        str | None, typer.Option("--operations", help="Only these: bcast,allreduce.", rich_help_panel=_ONLY)
    ] = None,
    algorithms: Annotated[
        str | None, typer.Option(help="Only these, as the table names them: default,ring.", rich_help_panel=_ONLY)
    ] = None,
    ranks: Annotated[
        str | None, typer.Option("--ranks", "-n", "-np", help="Only these.", rich_help_panel=_ONLY)
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Only these: 8,64K, or FIRST:LAST for all between.", rich_help_panel=_ONLY)
    ] = None,
    force: Force = False,
) -> None:
    """Show a campaign, one row per cell, estimated over its launches; or a program's profile."""
    import sys

    from timpani.campaign.read.cell_selection import CellSelection
    from timpani.errors import UserError
    from timpani.programs.profile_folder import is_profile
    from timpani.report.words.output_files import write_file

    if full and format is not Format.osu:
        raise UserError(f"--full is not for --format {format}", "use it with --format osu")
    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise UserError("Parquet is binary and would garble a terminal", "write it into a file with -o FILE")
    place = campaign_or_newest(folder)
    selection = CellSelection.parse(operations, algorithms, ranks, sizes)
    content = _profile(place, format) if is_profile(place) else _cells(place, selection, format, full)
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        write_file(output, content, force)


def _cells(folder: Path, selection: "CellSelection", format: Format, full: bool) -> bytes:
    """The selected cells of a campaign in that format."""
    from timpani.campaign.folder.load import load
    from timpani.campaign.read.cell_selection import select_cells
    from timpani.campaign.read.cell_table import estimate_cells
    from timpani.campaign.read.context import with_bounds
    from timpani.campaign.read.message_locality import with_locality

    campaign = load(folder)
    cells = with_bounds(with_locality(estimate_cells(campaign.raced), campaign), campaign)
    return _content(select_cells(cells, selection), format, full, campaign.header.study.datatype_of)


def _profile(folder: Path, format: Format) -> bytes:
    """The profile of a program in that format; UserError where it has no such form."""
    from timpani.errors import UserError
    from timpani.programs.profile_folder import read_profile
    from timpani.report.profiled.profile_text import profile_csv, profile_json, profile_text

    profile = read_profile(folder)
    match format:
        case Format.table:
            return profile_text(profile).encode()
        case Format.csv:
            return profile_csv(profile).encode()
        case Format.json:
            return profile_json(profile).encode()
        case _:
            raise UserError(f"{folder} is a profile, and {format.value} is for campaigns", "use table, csv or json")


def _content(cells: "pl.DataFrame", format: Format, full: bool, datatype_of: "Callable[[str], str]") -> bytes:
    """The cells in that format. full, datatype_of: for OSU's alone."""
    from io import BytesIO

    from timpani.report.words.campaign_text import cell_markdown, cell_table
    from timpani.report.words.latex_tables import cell_latex
    from timpani.report.words.osu_format import osu_blocks

    match format:
        case Format.markdown:
            return cell_markdown(cells).encode()
        case Format.latex:
            return cell_latex(cells).encode()
        case Format.osu:
            return osu_blocks(cells, full, datatype_of).encode()
        case Format.csv:
            return cells.write_csv().encode()
        case Format.json:
            return cells.write_json().encode() + b"\n"
        case Format.parquet:
            buffer = BytesIO()
            cells.write_parquet(buffer)
            return buffer.getvalue()
        case _:
            return cell_table(cells).encode()
