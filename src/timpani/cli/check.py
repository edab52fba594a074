"""`timpani check`: whether the files of a campaign, or those of `timpani tune`, are as they were written."""

from pathlib import Path

import typer

from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign


def check(folder: Campaign = None) -> None:
    """Verify each record of a campaign and its raw samples, or the table and the pages that `timpani tune` wrote.

    The exit status is 1 if one was changed or damaged. Remains of killed launches on this computer are removed.
    """
    from timpani.campaign.folder.bundle import campaign_folder
    from timpani.campaign.folder.header import read_header
    from timpani.campaign.folder.load import way_on
    from timpani.campaign.folder.verify import verify
    from timpani.campaign.run.leftovers import remove_leftovers
    from timpani.rules.table.table_file import TABLE_FILE
    from timpani.study.words import counted

    folder = campaign_folder(campaign_or_newest(folder))
    if (folder / TABLE_FILE).exists() and not (folder / "campaign.json").exists():
        _check_tuned(folder)
        return
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


def _check_tuned(folder: Path) -> None:
    """Print which files of a tuned folder are as they were written; exits with 1 where one is not."""
    from timpani.report.tuned.confirmation_text import PAGE as CONFIRMATION
    from timpani.report.tuned.sealed_page import verify_tuned
    from timpani.report.tuned.tuned_page import PAGE

    written, problems = verify_tuned(folder, (PAGE, CONFIRMATION))
    for problem in problems:
        typer.echo(problem)
    typer.echo(
        f"as written: {', '.join(written)}; files that libraries read carry no checksum: `timpani confirm` tries them"
    )
    if problems:
        typer.echo("write them anew: timpani tune, timpani confirm")
        raise typer.Exit(1)
