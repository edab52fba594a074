"""`timpani preload`: run a program with the library that replaces its collectives."""

import os
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import ProgramCommand, ProgramGroups, ProgramLibrary


def preload(
    command: ProgramCommand,
    rules: Annotated[Path, typer.Option(help="What `timpani rules` wrote.")],
    on: ProgramGroups = None,
    mpi: ProgramLibrary = None,
) -> None:
    """Run an unmodified MPI program with the algorithms that rules choose."""
    from timpani.programs.runs.preloaded_command import cannot_start, preloaded_command

    prepared = preloaded_command(command, rules, on, mpi, {})
    try:
        os.execvpe(prepared.argv[0], prepared.argv, dict(prepared.environment))  # noqa: S606 - what the user asked to run
    except OSError as error:
        raise cannot_start(prepared.argv[0], error) from None
