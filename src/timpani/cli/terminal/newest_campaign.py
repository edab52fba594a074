"""The campaign of a command that was given no folder."""

from pathlib import Path

import typer

from timpani.errors import UserError


def campaign_or_newest(folder: Path | None) -> Path:
    """`folder`, or without one the campaign in the current folder that was last started, which standard error names.

    UserError where the current folder holds no campaign.
    """
    if folder is not None:
        return folder
    headers = [*Path().glob("campaign.json"), *Path().glob("*/campaign.json")]
    if not headers:
        raise UserError("no campaign is in the current folder", "name one, or measure one: timpani run demo")
    newest = max(headers, key=lambda header: (header.stat().st_mtime_ns, header)).parent
    typer.echo(f"the newest campaign here: {newest}", err=True)
    return newest
