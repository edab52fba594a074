"""`timpani report`: one HTML file of a campaign, and its figures."""

from pathlib import Path
from typing import Annotated

import typer

from timpani.errors import UserError, cannot_write


def report(
    folder: Annotated[Path, typer.Argument(help="The campaign's folder.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file to write.", show_default=False)
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for each figure as SVG, PNG and PDF.", show_default=False)
    ] = None,
) -> None:
    """Write a report that opens offline, and the figures of a campaign."""
    from timpani.campaign.load import load
    from timpani.report.figure_files import write_figures
    from timpani.report.page import is_report, render

    if output is None and figures is None:
        raise UserError("nothing to write", "name the report with -o report.html, or a folder with --figures DIR")
    campaign = load(folder)
    try:
        if output is not None:
            if output.exists() and not (output.is_file() and is_report(output)):
                raise UserError(f"{output} exists and is no report of Timpani's", "choose another -o")
            output.write_text(render(campaign), encoding="utf-8")
            typer.echo(output)
        if figures is not None:
            typer.echo(f"{len(write_figures(campaign, figures))} files in {figures}")
    except OSError as error:
        raise cannot_write(Path(error.filename), error) from None
