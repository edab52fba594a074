"""`timpani show`: a campaign as a table, in OSU's format, or as data."""

from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.newest_campaign import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force, Format, format_option

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
    ] = (Format.table),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write into this file.", show_default=False)
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", "-f", help="With --format osu: minimum, maximum and iterations, like OSU's -f.")
    ] = False,
    operations: Annotated[
        str | None,
        typer.Option("--operations", help="Only these: bcast,allreduce.", show_default=False, rich_help_panel=_ONLY),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            help="Only these, as the table names them: default,ring.", show_default=False, rich_help_panel=_ONLY
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option("--ranks", "-n", "-np", help="Only these.", show_default=False, rich_help_panel=_ONLY),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Only these: 8,64K, or FIRST:LAST for all between.", show_default=False, rich_help_panel=_ONLY
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Show a campaign: one row per cell, estimated over its launches."""
    import sys
    from io import BytesIO

    from timpani.campaign.folder.load import load
    from timpani.campaign.read.cell_selection import Selection, select_cells
    from timpani.campaign.read.cell_table import estimate_cells
    from timpani.campaign.read.context import with_bounds
    from timpani.campaign.read.message_locality import with_locality
    from timpani.errors import UserError

    if full and format is not Format.osu:
        raise UserError(f"--full is not for --format {format}", "use it with --format osu")
    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise UserError("Parquet is binary and would garble a terminal", "write it into a file with -o FILE")
    campaign = load(campaign_or_newest(folder))
    cells = with_bounds(with_locality(estimate_cells(campaign.raced), campaign), campaign)
    cells = select_cells(cells, Selection.parse(operations, algorithms, ranks, sizes))
    match format:
        case Format.table:
            from timpani.report.words.campaign_text import cell_table

            content = cell_table(cells).encode()
        case Format.markdown:
            from timpani.report.words.campaign_text import cell_markdown

            content = cell_markdown(cells).encode()
        case Format.latex:
            from timpani.report.words.latex_tables import cell_latex

            content = cell_latex(cells).encode()
        case Format.osu:
            from timpani.report.words.osu_format import osu_blocks

            content = osu_blocks(cells, full, campaign.header.study.datatype_of).encode()
        case Format.csv:
            content = cells.write_csv().encode()
        case Format.json:
            content = cells.write_json().encode() + b"\n"
        case Format.parquet:
            buffer = BytesIO()
            cells.write_parquet(buffer)
            content = buffer.getvalue()
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        from timpani.report.words.output_files import write_file

        write_file(output, content, force)
