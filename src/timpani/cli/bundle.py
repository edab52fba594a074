"""`timpani bundle`: a campaign as one file."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.newest_campaign import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force


def bundle(
    folder: Campaign = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write.", show_default="the folder's name, .timpani.zip"),
    ] = None,
    force: Force = False,
) -> None:
    """Pack a campaign into one file: records, raw samples, report and checksums. All commands that read one open it.

    It holds names of hosts, users and paths, as the campaign does.
    """
    from timpani.campaign.folder.bundle import SUFFIX, pack
    from timpani.campaign.folder.load import load
    from timpani.campaign.folder.verify import sample_warnings
    from timpani.report.page.page import render
    from timpani.report.words.output_files import check_new, write_file

    place = campaign_or_newest(folder)
    file = output or Path(f"{place.resolve().name.removesuffix(SUFFIX)}{SUFFIX}")
    check_new(file, force)  # before the work
    campaign = load(place)
    for text in sample_warnings(campaign):
        typer.echo(f"Warning: {text}", err=True)
    write_file(file, pack(campaign.folder, render(campaign).encode()), force)
    typer.echo(f"{file} ({file.stat().st_size / 1e6:.1f} MB): `timpani report {shlex.quote(str(file))}` opens it")
