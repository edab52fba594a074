"""`timpani check`: whether a campaign's files are as they were written."""

from pathlib import Path
from typing import Annotated

import typer


def check(
    folder: Annotated[Path, typer.Argument(help="The campaign's folder.", show_default=False)],
) -> None:
    """Verify each record of a campaign and its raw samples; the exit status is 1 where one is not as it was written."""
    from timpani.campaign.folder.header import read_header
    from timpani.campaign.folder.load import way_on
    from timpani.campaign.folder.verify import verify
    from timpani.study.counted import counted

    header = read_header(folder)
    found = verify(folder, header)
    for problem in found.problems:
        typer.echo(problem)
    typer.echo(
        f"as written: {counted(found.verified, 'line')}, and the raw samples of {counted(found.samples, 'result')}"
    )
    if found.unsealed:
        typer.echo(
            f"not verifiable: {counted(found.unsealed, 'line')} without a checksum, recorded before there were any"
        )
    if found.problems:
        typer.echo(f"{counted(len(found.problems), 'problem')}; {way_on(header)}")
        raise typer.Exit(1)
