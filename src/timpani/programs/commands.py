"""`timpani profile`: what an unmodified program calls, and where its time in MPI passes."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from timpani.campaign.folder.load import load_one_machine
from timpani.cli.terminal.options import output_option
from timpani.libraries.find import search_mpis
from timpani.native.mpi import Mpi
from timpani.programs.pages.profile_document import confirm_blocks, savings_document, summary_lines
from timpani.programs.profile.profile_folder import ProgramProfile, read_profile
from timpani.programs.profile.profiled_study import profiled_study
from timpani.programs.profile.savings import Savings, expected_savings
from timpani.programs.runs.preloaded_command import cannot_start, preloaded_command
from timpani.programs.runs.profiled_run import ending_lines, profiled_run
from timpani.report.document.blocks import Document
from timpani.report.document.formats import render
from timpani.study.study import Study

ProgramCommand = Annotated[list[str], typer.Argument(help="After `--`: mpirun … ./program, srun …, or a program.")]
ProgramGroups = Annotated[
    str | None, typer.Option(metavar="WHERE", help="A machine file or lab: it defines which nodes share a switch.")
]
ProgramLibrary = Annotated[str | None, typer.Option(help="The program's MPI library; by default the launcher's.")]
"""Of commands that run an unmodified program."""


def study_for(profile: Path, options: Mapping[str, object], covered_by: Sequence[Path]) -> Study:
    """The study of what the program of `profile` calls; standard error names what it leaves out.

    covered_by  campaigns whose points are not measured again
    """
    read = read_profile(profile)
    covered = [each.point for each in savings_of(read, covered_by).covered] if covered_by else []
    found = profiled_study(read.main_part, options, covered)
    for text in found.left_out:
        typer.echo(f"not as in the program: {text}", err=True)
    return found.study


def library_for(profile: Path) -> str | None:
    """The library that the program of `profile` ran with: its launcher if it is found here, else the first of its kind.

    A profile may be a stranger's, so a launcher that it names is not started.
    """
    header = read_profile(profile).header
    if header is None:
        return None
    launchers = [str(each.mpirun) for each in search_mpis() if isinstance(each, Mpi)]
    return header.mpi.mpirun if header.mpi.mpirun in launchers else header.mpi.kind


def savings_of(profile: ProgramProfile, campaigns: Sequence[Path]) -> Savings:
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`."""
    return expected_savings(profile, [load_one_machine(folder) for folder in campaigns])


def print_savings(profile: Path, campaigns: Sequence[Path], tuned: Path | None) -> None:
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`.

    tuned  the folder whose files the program can be run with; None: no files
    """
    found = read_profile(profile)
    document = savings_document(found, savings_of(found, campaigns))
    typer.echo(render(Document(document.title, (*document.blocks, *confirm_blocks(found, tuned))), "text"), nl=False)


def profile(
    command: ProgramCommand,
    output: Annotated[Path, output_option("A new folder for the profile.")],
    rules: Annotated[
        Path | None, typer.Option(help="What `timpani rules` wrote: also replace collectives by these rules.")
    ] = None,
    on: ProgramGroups = None,
    mpi: ProgramLibrary = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Count the collectives' messages, and name the algorithms that send them.")
    ] = False,
    sites: Annotated[
        bool, typer.Option("--sites", help="Also count collectives by the place in the program that calls them.")
    ] = False,
) -> None:
    """Count and time what an unmodified MPI program calls, and how long its ranks wait for each other.

    The exit status is that of the program, but 1 if the program succeeded and none of its processes called MPI.
    """
    run = profiled_run(command, output, rules, on, mpi, prove=prove, sites=sites)
    for line in ending_lines(run):
        typer.echo(f"timpani: {line}", err=True)
    if run.profile.parts:
        for line in summary_lines(run.profile):
            typer.echo(f"timpani: {line}", err=True)
        also = f", timpani prove {shlex.quote(str(output))}" if prove else ""
        typer.echo(f"timpani: read on: timpani show {shlex.quote(str(output))}{also}", err=True)
    raise typer.Exit(run.status or int(not run.profile.parts))


def preload(
    command: ProgramCommand,
    rules: Annotated[Path, typer.Option(help="What `timpani rules` wrote.")],
    on: ProgramGroups = None,
    mpi: ProgramLibrary = None,
) -> None:
    """Run an unmodified MPI program with the algorithms that rules choose."""
    prepared = preloaded_command(command, rules, on, mpi, {})
    try:
        os.execvpe(prepared.argv[0], prepared.argv, dict(prepared.environment))  # noqa: S606 - what the user asked to run
    except OSError as error:
        raise cannot_start(prepared.argv[0], error) from None
