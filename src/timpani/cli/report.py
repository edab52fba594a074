"""`timpani report`: one HTML file of a campaign, and its figures."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.newest_campaign import campaign_or_newest
from timpani.cli.terminal.options import Campaign, FigureOptions, Force, expand

_NAME = "report.html"


@expand(style=FigureOptions)
def report(
    *,
    folder: Campaign = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The HTML file to write.",
            show_default=f"{_NAME} in the campaign's folder; none with --figures",
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for each figure as SVG, PNG and PDF.", show_default=False)
    ] = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="Curves on linear axes; in the page, at first: it has a switch.")
    ] = False,
    published: Annotated[
        list[str] | None,
        typer.Option(help="Show a published fit beside: della_siega_bcast_linear_ols.", show_default=False),
    ] = None,
    predicted: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Show predictions beside: what `timpani predict -o` wrote, or a campaign that tells the costs.",
            show_default=False,
        ),
    ] = None,
    style: FigureOptions,
    force: Force = False,
) -> None:
    """Write a report that opens offline, and the figures of a campaign."""
    from timpani.campaign.folder.load import load
    from timpani.campaign.osu.published_tables import read_published
    from timpani.campaign.read.cell_table import estimate_cells
    from timpani.report.page.figure_files import write_figures
    from timpani.report.page.page import render
    from timpani.report.predicted.predicted_and_measured import beside_predicted, predicted_sentence
    from timpani.report.predicted.stored_predictions import foretold
    from timpani.report.words.output_files import check_new, write_file
    from timpani.study.counted import counted

    folder = campaign_or_newest(folder)
    if output is None and figures is None:
        output = folder / _NAME
    if output:
        check_new(output, force)  # before the work
    fits, campaign = [read_published(name, "fit") for name in published or []], load(folder)
    told = foretold(predicted, campaign) if predicted else None
    if output:
        write_file(output, render(campaign, linear, fits, told).encode(), force)
        typer.echo(output)
        typer.echo(f"the answer in words: timpani verdict {shlex.quote(str(folder))} --details", err=True)
    if told is not None:
        typer.echo(predicted_sentence(beside_predicted(estimate_cells(campaign.raced), told)))
    if figures is not None:
        written = write_figures(campaign, figures, force, linear, style.chosen())
        typer.echo(f"{counted(len(written), 'file')} in {figures}")
