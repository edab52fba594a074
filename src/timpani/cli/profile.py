"""`timpani profile`: what an unmodified program calls, and where its time in MPI passes."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import ProgramCommand, ProgramGroups, ProgramLibrary, output_option
from timpani.programs.pages.profile_document import summary_lines
from timpani.programs.preloaded_command import cannot_start, preloaded_command
from timpani.programs.profiled_run import ending_lines, profiled_run


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
