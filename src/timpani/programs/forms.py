"""What `show`, `report` and `prove` do with a profile."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.figure_options import REPORT_PAGE, FigureOptions, FilesOfFigures, ReportOutput
from timpani.cli.terminal.forms import Form
from timpani.cli.terminal.options import Force, Format
from timpani.cli.terminal.shown import ShownFormat, ShownOutput, print_or_write
from timpani.errors import UserError
from timpani.programs.commands import savings_of
from timpani.programs.pages.profile_document import profile_csv, profile_document, profile_json, savings_document
from timpani.programs.pages.profile_page import render_profile, write_profile_files
from timpani.programs.pages.proven_text import MESSAGE_WORDS, proven_lines
from timpani.programs.profile.profile_folder import is_profile, read_profile
from timpani.report.document.formats import FORMATS, render
from timpani.report.words.output_files import check_new, write_file


@dataclass(frozen=True)
class _Covered:
    """Campaigns that measured calls of the profile, as typed."""

    covered_by: Annotated[
        list[Path] | None,
        typer.Option(
            "--covered-by",
            metavar="CAMPAIGN",
            help="For a profile: what its calls would gain with the algorithms measured in this campaign. Repeat the "
            "option for several.",
            autocompletion=complete_campaign,
        ),
    ] = None


@dataclass(frozen=True)
class _Shown:
    """How the profile is shown, as typed."""

    format: ShownFormat = Format.text
    output: ShownOutput = None
    force: Force = False
    details: Annotated[
        bool, typer.Option("--details", help="Of a profile: every call, late ranks, and the longest calls.")
    ] = False


def _show(folder: Path, shown: _Shown, covered: _Covered) -> None:
    print_or_write(_content(folder, shown, covered).encode(), shown.output, shown.force)


def _content(folder: Path, shown: _Shown, covered: _Covered) -> str:
    profile = read_profile(folder)
    if covered.covered_by:
        document = savings_document(profile, savings_of(profile, covered.covered_by))
    elif shown.format is Format.csv:
        return profile_csv(profile)
    elif shown.format is Format.json:
        return profile_json(profile)
    else:
        document = profile_document(profile, shown.details or shown.format is not Format.text)
    if shown.format.value not in FORMATS:
        raise UserError(f"{folder} is a profile, and {shown.format.value} is for campaigns", "use text, csv or json")
    return render(document, shown.format.value)


def _report(folder: Path, to: ReportOutput, files: FilesOfFigures, covered: _Covered, style: FigureOptions) -> None:
    """Write the page of a profile, its figure and tables, or both."""
    output = to.output
    if output is None and files.figures is None:
        output = folder.with_name(f"{folder.resolve().name}-{REPORT_PAGE}")  # a profile's folder is sealed
    if output:
        check_new(output, to.force)
    profile = read_profile(folder)
    savings = savings_of(profile, covered.covered_by) if covered.covered_by else None
    if files.figures is not None:
        written = write_profile_files(profile, savings, files.figures, to.force, style.chosen())
        typer.echo(f"figure and tables in {files.figures}: {', '.join(map(str, written))}")
    if output:
        write_file(output, render_profile(profile, savings).encode(), to.force)
        typer.echo(output)
        typer.echo(f"the same as text: timpani show {shlex.quote(str(folder))}", err=True)


def _prove(folder: Path) -> None:
    part = read_profile(folder).main_part
    if not part.sent:
        raise UserError(f"{folder} holds no counted messages", "count them: timpani profile --prove -o NEW -- mpirun …")
    for line in proven_lines(part, MESSAGE_WORDS.only("timpani prove")()):
        typer.echo(line)


def _applies(folder: Path, _: Any) -> bool:
    return is_profile(folder)


SHOW = Form("a profile", _applies, (_Shown, _Covered), _show)
REPORT = Form("a profile", _applies, (ReportOutput, FilesOfFigures, _Covered, FigureOptions), _report)
PROVE = Form("a profile", _applies, (), _prove)
