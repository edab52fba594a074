"""`timpani report`: one HTML file of a campaign, and its figures."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from timpani.campaign.folder.bundle import bundle_name
from timpani.campaign.folder.load import Campaign as LoadedCampaign
from timpani.campaign.folder.load import load
from timpani.campaign.read.study_names import by_statistic, with_study_names
from timpani.cli.terminal.completing import complete_predictions
from timpani.cli.terminal.figure_options import FIGURES, FigureOptions
from timpani.cli.terminal.named_campaigns import campaign_or_newest, two_campaigns
from timpani.cli.terminal.options import Campaign, CoveredBy, Force, Statistic, campaign_argument, expand, output_option
from timpani.cli.terminal.profiled import savings_of
from timpani.errors import UserError
from timpani.programs.pages.profile_page import render_profile, write_profile_files
from timpani.programs.profile_folder import is_profile, read_profile
from timpani.report.fit.published_fit import read_published_fits
from timpani.report.page.compared_page import render_compared
from timpani.report.page.contents import PredictedCells, Report
from timpani.report.page.figure_files import INDEX, find_figures, write_figures
from timpani.report.page.page import render
from timpani.report.page.table_files import ALL_TIMES, table_files
from timpani.report.words.output_files import check_new, write_file, write_files
from timpani.slices import Hook
from timpani.study.words import counted
from timpani.tuning.decide.cell_table import estimate_cells
from timpani.tuning.decide.raced import raced_results

_PREDICTIONS: Hook[Callable[[Path, LoadedCampaign], PredictedCells]] = Hook("STORED_PREDICTIONS")

_NAME = "report.html"


@dataclass(frozen=True)
class _OfOneCampaign:
    """Options that only the report of one campaign has, but for `figures`, which that of a profile has too."""

    figures: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the study's or the profile's figures (SVG, PNG and PDF), and for all tables (LaTeX, "
            "Markdown and CSV).",
            rich_help_panel=FIGURES,
        ),
    ] = None
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


@expand(chosen=_OfOneCampaign, style=FigureOptions)
def report(
    *,
    folder: Campaign = None,
    other: Annotated[
        Path | None,
        campaign_argument("A second campaign: one report of both, and what changed from the first.", "B"),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(
            "The HTML file to write.", f"{_NAME} in the campaign's folder, or compared-with-B.html; none with --figures"
        ),
    ] = None,
    covered_by: CoveredBy = None,
    chosen: _OfOneCampaign,
    style: FigureOptions,
    force: Force = False,
) -> None:
    """Write a page that opens offline: a report of a campaign with its figures, of two campaigns, or of a profile."""
    folder = campaign_or_newest(folder)
    if is_profile(folder):
        _refuse("the report of a campaign", {"a second folder": other, **_typed(chosen), "--figures": None})
        _of_profile(folder, covered_by, output, chosen.figures, style, force)
        return
    if covered_by:
        raise UserError(f"--covered-by is for a profile, and {folder} holds a campaign", "leave it out")
    if other is not None:
        _refuse("the report of one campaign", _typed(chosen))
        _compared(folder, other, output, force)
        return
    _of_one(folder, output, chosen, style, force)


def _typed(chosen: _OfOneCampaign) -> dict[str, object]:
    """The values of the options by their names."""
    return {f"--{name.replace('_', '-')}": value for name, value in vars(chosen).items()}


def _refuse(what: str, unused: Mapping[str, object]) -> None:
    """UserError if one of the options `unused` was typed, which are for `what`."""
    if given := next((name for name, value in unused.items() if value), None):
        raise UserError(f"{given} is for {what}", "leave it out, or name one campaign")


def _of_one(folder: Path, output: Path | None, chosen: _OfOneCampaign, style: FigureOptions, force: bool) -> None:
    """Write the report of one campaign, its figures, or both."""
    if output is None and chosen.figures is None:
        output = folder.with_name(f"{bundle_name(folder)}.html") if folder.is_file() else folder / _NAME
    if output:
        check_new(output, force)  # before the work
    if chosen.all_figures and chosen.figures is None:
        raise UserError("--all-figures is for --figures", "name a folder with --figures")
    if chosen.predicted is not None and chosen.statistic == "osu":
        raise UserError("predictions are of the completion of a call", "leave out --statistic, or --predicted")
    fits, campaign = read_published_fits(chosen.published or []), load(folder)
    campaign = by_statistic(campaign, chosen.statistic or "completion")
    if chosen.predicted is None:  # predictions have the names of the algorithms that were measured
        campaign = with_study_names(campaign)
    predictions = _PREDICTIONS.only("--predicted")(chosen.predicted, campaign) if chosen.predicted else None
    if output:
        write_file(output, render(campaign, chosen.linear, fits, predictions).encode(), force)
        typer.echo(output)
        typer.echo(f"the answer in words: timpani verdict {shlex.quote(str(folder))} --details", err=True)
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


def _of_profile(
    folder: Path,
    covered_by: list[Path] | None,
    output: Path | None,
    figures: Path | None,
    style: FigureOptions,
    force: bool,
) -> None:
    """Write the page of a profile, its figure and tables, or both."""
    if output is None and figures is None:
        output = folder.with_name(f"{folder.resolve().name}-{_NAME}")  # a profile's folder is sealed
    if output:
        check_new(output, force)
    profile = read_profile(folder)
    savings = savings_of(profile, covered_by) if covered_by else None
    if figures is not None:
        written = write_profile_files(profile, savings, figures, force, style.chosen())
        typer.echo(f"figure and tables in {figures}: {', '.join(map(str, written))}")
    if output:
        write_file(output, render_profile(profile, savings).encode(), force)
        typer.echo(output)
        typer.echo(f"the same as text: timpani show {shlex.quote(str(folder))}", err=True)


def _compared(folder: Path, other: Path, output: Path | None, force: bool) -> None:
    """Write the report of two campaigns."""
    output = output or folder / f"compared-with-{other.resolve().name}.html"
    check_new(output, force)  # before the work
    write_file(output, render_compared(*two_campaigns(folder, other)).encode(), force)
    typer.echo(output)
    typer.echo(f"the same as text: timpani compare {shlex.quote(str(folder))} {shlex.quote(str(other))}", err=True)
