"""What commands print that measure for a program: what is left out, and what it is expected to gain."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from timpani.campaign.folder.load import load_one_machine
from timpani.programs.pages.profile_document import savings_document
from timpani.programs.profile_folder import ProgramProfile, read_profile
from timpani.programs.profiled_study import profiled_study
from timpani.programs.savings import Savings, expected_savings
from timpani.report.document.formats import render
from timpani.study.study import Study


def study_for(profile: Path, options: Mapping[str, object], covered_by: Sequence[Path] = ()) -> Study:
    """The study of what the program of `profile` calls; standard error names what it leaves out.

    covered_by  campaigns whose points are not measured again
    """
    read = read_profile(profile)
    covered = [each.point for each in savings_of(read, covered_by).covered] if covered_by else []
    found = profiled_study(read.main_part, options, covered)
    for text in found.left_out:
        typer.echo(f"left out: {text}", err=True)
    return found.study


def savings_of(profile: ProgramProfile, campaigns: Sequence[Path]) -> Savings:
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`."""
    return expected_savings(profile, [load_one_machine(folder) for folder in campaigns])


def print_savings(profile: Path, campaigns: Sequence[Path]) -> None:
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`."""
    found = read_profile(profile)
    typer.echo(render(savings_document(found, savings_of(found, campaigns)), "text"), nl=False)
