"""`timpani report`: one HTML file of a campaign, and its figures."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.folder.bundle import bundle_name
from timpani.campaign.folder.load import Campaign as LoadedCampaign
from timpani.campaign.folder.load import load
from timpani.campaign.read.study_names import by_statistic, with_study_names
from timpani.cli.terminal.completing import complete_predictions
from timpani.cli.terminal.figure_options import FIGURES, REPORT_PAGE, FigureOptions, FilesOfFigures, ReportOutput
from timpani.cli.terminal.forms import Form, options_of, run_form
from timpani.cli.terminal.named_campaigns import campaign_or_newest, two_campaigns
from timpani.cli.terminal.options import Campaign, GivenMargins, Statistic, campaign_argument, expand
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.native.announce import working
from timpani.report.document.output_files import check_new, write_file, write_files
from timpani.report.fit.fit_context import read_published_fits
from timpani.report.page.compared_page import render_compared
from timpani.report.page.contents import PredictedCells, Report
from timpani.report.page.figure_files import ALL_TIMES, INDEX, find_figures, table_files, write_figures
from timpani.report.page.page import render
from timpani.slices import Hook
from timpani.study.words import counted

_PREDICTIONS: Hook[Callable[[Path, LoadedCampaign], PredictedCells]] = Hook("STORED_PREDICTIONS")
REPORT_FORMS: Hook[Form] = Hook("REPORT_FORMS")


@dataclass(frozen=True)
class _OfTwoCampaigns:
    """The other campaign, as typed."""

    other: Annotated[
        Path | None,
        campaign_argument("A second campaign: one report of both, and what changed from the first.", "B"),
    ] = None


@dataclass(frozen=True)
class _OfOneCampaign(FilesOfFigures):
    """What the report of one campaign shows, as typed."""

    all_figures: Annotated[
        bool,
        typer.Option(
            "--all-figures",
            help="With --figures: every figure of the report, for each choice that a reader has.",
            rich_help_panel=FIGURES,
        ),
    ] = False
    statistic: Statistic = None
    linear: Annotated[
        bool, typer.Option("--linear", help="Draw curves on linear axes; the page has a switch for this.")
    ] = False
    published: Annotated[list[str] | None, typer.Option(help="Also show the published fit of della_siega or holt.")] = (
        None
    )
    predicted: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also show predictions: what `timpani predict -o` wrote, or a campaign to estimate costs from.",
            autocompletion=complete_predictions,
        ),
    ] = None


def _of_one(
    folder: Path, to: ReportOutput, chosen: _OfOneCampaign, style: FigureOptions, margins: GivenMargins
) -> None:
    """Write the report of one campaign, its figures, or both."""
    output, force = to.output, to.force
    if output is None and chosen.figures is None:
        output = folder.with_name(f"{bundle_name(folder)}.html") if folder.is_file() else folder / REPORT_PAGE
    if output:
        check_new(output, force)  # before the work
    if chosen.all_figures and chosen.figures is None:
        raise UserError("--all-figures is for --figures", "name a folder with --figures")
    if chosen.predicted is not None and chosen.statistic == "osu":
        raise UserError("predictions are of the completion of a call", "leave out --statistic, or --predicted")
    fits, campaign = read_published_fits(chosen.published or []), margins.judged(load(folder))
    campaign = by_statistic(campaign, chosen.statistic or "completion")
    if chosen.predicted is None:  # predictions have the names of the algorithms that were measured
        campaign = with_study_names(campaign)
    predictions = _PREDICTIONS.only("--predicted")(chosen.predicted, campaign) if chosen.predicted else None
    if output:
        write_file(output, render(campaign, chosen.linear, fits, predictions).encode(), force)
        typer.echo(output)
        typer.echo(
            f"the answer in words: timpani verdict {shlex.quote(str(folder))} --details{campaign.margins.options}",
            err=True,
        )
    if predictions is not None:
        typer.echo(predictions.sentence(estimate_cells(raced_results(campaign))))
    if chosen.figures is not None:
        _write_figures(Report(campaign, fits, predictions), chosen.figures, chosen, style, force)


def _write_figures(report: Report, folder: Path, chosen: _OfOneCampaign, style: FigureOptions, force: bool) -> None:
    """Write the figures and tables, and print how many figures there are, how many more there could be, and which could
    not be drawn."""
    found = find_figures(report)
    files = [*found.asked, *(found.others if chosen.all_figures else ())]
    tables = table_files(report, style.width)
    for path in tables:
        check_new(folder / path, force)
    typer.echo(f"drawing {counted(len(files), 'figure')}", err=True)
    write_figures(files, report, folder, force, chosen.linear, style.chosen())
    write_files(tables, folder, force)
    more = f"; --all-figures writes {len(found.others)} more" if found.others and not chosen.all_figures else ""
    typer.echo(f"{counted(len(files), 'figure')}, each as SVG, PNG and PDF: {folder / INDEX} shows them{more}")
    further = dict.fromkeys(path.stem for path in tables if path.parent.name)
    typer.echo(f"all times as tables: {', '.join(str(folder / path) for path in tables if not path.parent.name)}")
    typer.echo(f"further tables in {folder / ALL_TIMES}: {', '.join(further)}")
    for text in found.missing:
        typer.echo(f"not drawn: {text}", err=True)


def _compared(folder: Path, two: _OfTwoCampaigns, to: ReportOutput) -> None:
    """Write the report of two campaigns."""
    other, output, force = two.other, to.output, to.force
    assert other, "the form applies where it was typed"
    output = output or folder / f"compared-with-{other.resolve().name}.html"
    check_new(output, force)  # before the work
    write_file(output, render_compared(*two_campaigns(folder, other)).encode(), force)
    typer.echo(output)
    typer.echo(f"the same as text: timpani compare {shlex.quote(str(folder))} {shlex.quote(str(other))}", err=True)


_OF_ONE = (ReportOutput, _OfOneCampaign, FigureOptions, GivenMargins)

_FORMS = (
    *REPORT_FORMS.added(),
    Form("two campaigns", lambda folder, typed: typed.other is not None, (_OfTwoCampaigns, ReportOutput), _compared),
    Form("a campaign", lambda folder, typed: True, _OF_ONE, _of_one),
)


@expand(options=options_of(_FORMS))
def report(*, folder: Campaign = None, options: Any) -> None:
    """Write a page that opens offline: a report of a campaign with its figures, of two campaigns, or of a profile."""
    with working("writing the report"):
        run_form(_FORMS, campaign_or_newest(folder), options)
