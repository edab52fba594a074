"""What `report` does with a profile."""

import shlex
from pathlib import Path

import typer

from timpani.cli.terminal.figure_options import REPORT_PAGE, FigureOptions, FilesOfFigures, ReportOutput
from timpani.cli.terminal.forms import Form
from timpani.programs.commands import savings_of
from timpani.programs.forms import Covered, applies_to
from timpani.programs.pages.profile_page import render_profile, write_profile_files
from timpani.programs.profile.profile_folder import read_profile
from timpani.report.document.output_files import check_new, write_file


def _report(folder: Path, to: ReportOutput, files: FilesOfFigures, covered: Covered, style: FigureOptions) -> None:
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


REPORT = Form("a profile", applies_to, (ReportOutput, FilesOfFigures, Covered, FigureOptions), _report)
