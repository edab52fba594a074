"""`timpani bundle`: a campaign as one file."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force, output_option

_MAX_NAMED = 8
"""Of each kind of names."""


def bundle(
    folder: Campaign = None,
    output: Annotated[
        Path | None,
        output_option("The file to write.", "the folder's name, .timpani.zip"),
    ] = None,
    force: Force = False,
) -> None:
    """Pack a campaign into one file: records, raw samples, report, checksums. Commands that read campaigns open it.

    It holds names of hosts, users and folders, as the campaign does, and prints them.
    """
    from timpani.campaign.folder.bundle import SUFFIX, pack
    from timpani.campaign.folder.load import load
    from timpani.campaign.folder.verify import sample_warnings
    from timpani.campaign.share.held_names import held_names
    from timpani.report.page.page import render
    from timpani.report.words.output_files import check_new, write_file
    from timpani.study.words import listed

    place = campaign_or_newest(folder)
    file = output or Path(f"{place.resolve().name.removesuffix(SUFFIX)}{SUFFIX}")
    check_new(file, force)  # before the work
    campaign = load(place)
    for text in sample_warnings(campaign):
        typer.echo(f"Warning: {text}", err=True)
    write_file(file, pack(campaign.folder, render(campaign).encode()), force)
    names = held_names(campaign)
    kinds = {"hosts": names.hosts, "users": names.users, "folders": names.folders}
    if named := [_named(kind, found) for kind, found in kinds.items() if found]:
        typer.echo(f"it names {listed(named)}: send it only to people who may know them", err=True)
    typer.echo(f"{file} ({file.stat().st_size / 1e6:.1f} MB): `timpani report {shlex.quote(str(file))}` opens it")


def _named(kind: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{kind} ({', '.join(names[:_MAX_NAMED])}{more})"
