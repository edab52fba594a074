"""`timpani preload`: run a program with the library that replaces its collectives."""

import os
from pathlib import Path
from typing import Annotated

import typer


def preload(
    command: Annotated[
        list[str], typer.Argument(help="After `--`: mpirun … ./program, srun …, or a program.", show_default=False)
    ],
    rules: Annotated[Path, typer.Option(help="What `timpani rules` wrote.", show_default=False)],
    on: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="A machine file or lab, whose groups are used.", show_default=False),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="The program's MPI library; by default the launcher's.", show_default=False)
    ] = None,
) -> None:
    """Run an unmodified MPI program on collectives that rules choose; `timpani profile` counts and times them."""
    from timpani.programs.preloaded_command import cannot_start, preloaded_command

    prepared = preloaded_command(command, rules, on, mpi, {})
    try:
        os.execvpe(prepared.argv[0], prepared.argv, dict(prepared.environment))  # noqa: S606 - what the user asked to run
    except OSError as error:
        raise cannot_start(prepared.argv[0], error) from None
