"""`timpani verdict`: the answer that `timpani run` ended with, again or as data."""

from typing import Annotated

import typer

from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Format, format_option


def verdict(
    folder: Campaign = None,
    format: Annotated[
        Format,
        format_option("json has every point: standing, ratio, interval, launches, setting.", Format.text, Format.json),
    ] = Format.text,
    details: Annotated[
        bool, typer.Option("--details", help="Add each operation, how sure the answer is, and all warnings.")
    ] = False,
) -> None:
    """Print the verdict of a campaign: where the default is fine, what is faster at other points, and how to set it."""
    import json

    from timpani.campaign.folder.load import load
    from timpani.campaign.read.study_names import with_study_names
    from timpani.report.verdict.verdict_text import verdict_object, verdict_text

    campaign = load(campaign_or_newest(folder))
    if format is Format.json:
        typer.echo(json.dumps(verdict_object(campaign), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo("\n".join(verdict_text(with_study_names(campaign), details)))
