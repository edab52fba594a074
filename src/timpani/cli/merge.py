"""`timpani merge`: campaigns of several machines or days as one."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.completing import complete_machine_campaign
from timpani.cli.terminal.options import output_option
from timpani.errors import printable


def merge(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="[MACHINE=]DIR…",
            help="Campaigns, as folders or bundles; MACHINE renames a campaign's machine.",
            autocompletion=complete_machine_campaign,
        ),
    ],
    output: Annotated[Path, output_option("The merged campaign's folder: new or empty.")],
) -> None:
    """Join campaigns of several machines or days into one, with the provenance of each.

    On one machine the launches of a cell are joined. Cells of different machines stay apart.
    """
    from timpani.campaign.share.merge import merge as merge_campaigns
    from timpani.campaign.share.mergeable import MergeSource
    from timpani.study.words import counted

    command = shlex.join(["timpani", *sys.argv[1:]])
    sources = [MergeSource.parse(text) for text in folders]
    for note in merge_campaigns(sources, output, command):
        typer.echo(f"Note: {printable(note)}", err=True)
    machines = len(frozenset[str]().union(*(each.names for each in sources)))
    typer.echo(
        f"{counted(len(sources), 'campaign')} of {counted(machines, 'machine')} in {output}; "
        f"`timpani show {shlex.quote(str(output))}` shows them"
    )
