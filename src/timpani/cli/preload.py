"""`timpani preload`: run a program with the library that replaces and counts its collectives."""

import os
from pathlib import Path
from typing import Annotated

import typer


def preload(
    command: Annotated[
        list[str], typer.Argument(help="After `--`: mpirun … ./program, srun …, or a program.", show_default=False)
    ],
    rules: Annotated[
        Path | None, typer.Option(help="What `timpani rules` wrote; without it calls are only counted.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="A new CSV file: calls, bytes and time of each collective.", show_default=False)
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print what was counted when the program ends.")] = False,
    on: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="A machine file or lab, whose groups are used.", show_default=False),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="The program's MPI library; by default the launcher's.", show_default=False)
    ] = None,
) -> None:
    """Run an unmodified MPI program on collectives that rules choose, or count and time what it calls."""
    from timpani.errors import UserError
    from timpani.libraries.find import choose_mpi, mpi_of_launcher
    from timpani.machine.launchers.forwarded_variables import handed
    from timpani.machine.where import resolve
    from timpani.providers.rules import variables

    if not command[0]:
        raise UserError("the program has no name", "name a program after `--`")
    started = mpi_of_launcher(command[0])
    library = choose_mpi(mpi) if mpi or started is None else started
    given = variables(library, rules, resolve(on, mpi).switches if on else {})
    if profile is not None:
        if profile.exists():
            raise UserError(f"{profile} exists already", "name a new file")
        if not profile.resolve().parent.is_dir():
            raise UserError(f"folder not found: {profile.parent}", "make it, or name a file elsewhere")
        given["TIMPANI_PROFILE"] = str(profile.resolve())
    if summary:
        given["TIMPANI_TRACE"] = "summary"
    argv, environment = handed(command, started.kind if started else None, given, os.environ.get("LD_PRELOAD", ""))
    inherited = {name: value for name, value in os.environ.items() if rules or name != "TIMPANI_RULES"}
    try:
        os.execvpe(argv[0], argv, inherited | environment)  # noqa: S606 - what the user asked to run, no shell
    except OSError as error:
        raise UserError(f"{argv[0]} can't be started ({error.strerror})", "name a program after `--`") from None
