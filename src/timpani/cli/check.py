"""`timpani check`: whether a campaign's files are as they were written."""

import typer

from timpani.cli.terminal.newest_campaign import campaign_or_newest
from timpani.cli.terminal.options import Campaign


def check(folder: Campaign = None) -> None:
    """Verify each record of a campaign and its raw samples; the exit status is 1 where one is not as it was written.

    What launches that were killed left on this computer is removed.
    """
    from timpani.campaign.folder.header import read_header
    from timpani.campaign.folder.load import way_on
    from timpani.campaign.folder.verify import verify
    from timpani.campaign.run.leftovers import remove_leftovers
    from timpani.study.counted import counted

    folder = campaign_or_newest(folder)
    header = read_header(folder)
    found = verify(folder, header)
    for problem in found.problems:
        typer.echo(problem)
    typer.echo(
        f"as written: {counted(found.verified, 'line')}, and the raw samples of {counted(found.samples, 'result')}"
    )
    for removed in remove_leftovers(folder, header):
        typer.echo(f"removed {removed}: a launch that was killed left it")
    if found.problems:
        typer.echo(f"{counted(len(found.problems), 'problem')}; {way_on(header)}")
        raise typer.Exit(1)
