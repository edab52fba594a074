"""`timpani verdict`: the answer that `timpani run` ended with, again or as data."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a verdict is printed."""

    text = "text"
    json = "json"


def verdict(
    folder: Annotated[Path, typer.Argument(help="The campaign's folder.", show_default=False)],
    format: Annotated[
        Format, typer.Option(help="json has every point: standing, ratio, interval, launches, setting.")
    ] = Format.text,
) -> None:
    """Say where the default is good enough, where not, and what is better there: as `timpani run` does at its end."""
    import json

    from timpani.campaign.folder.load import load
    from timpani.report.words.verdict_text import verdict_object, verdict_text

    campaign = load(folder)
    if format is Format.json:
        typer.echo(json.dumps(verdict_object(campaign), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo("\n".join(verdict_text(campaign)))
