"""`timpani tune`: files that make the library choose as was measured; what is wrong with one, and what it chooses."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from timpani.cli.options import Force

_FILES = "files"


class _FilesUnlessNamed(TyperGroup):
    """`timpani tune CAMPAIGN` writes files; `lint` and `explain` are commands of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Where no command is named, files are meant."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_FILES, *args]
        return super().parse_args(ctx, args)


tune = typer.Typer(
    help="Write files that make the library choose as was measured: timpani tune CAMPAIGN -o DIR.",
    cls=_FilesUnlessNamed,
    no_args_is_help=True,
)

Library = Annotated[
    str | None,
    typer.Option(
        "--mpi", help="openmpi, mpich, intel, or a path.", show_default="the one measured, or the first found"
    ),
]


@tune.command(_FILES)
def files(
    folder: Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="The campaign's folder.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the files.", show_default=False)],
    mpi: Library = None,
    force: Force = False,
) -> None:
    """Write a table of which algorithm is best where, and the files by which the library follows it."""
    from timpani.campaign.load import load
    from timpani.report.files import check_new, write_file
    from timpani.report.tuned import PAGE, tuned_lines, tuned_page
    from timpani.tuned.files import tuned_files
    from timpani.tuned.from_campaign import installed, table_of

    campaign = load(folder)
    table = table_of(campaign)
    library = installed(campaign, mpi)
    from timpani.libraries.registry import LIBRARIES

    written = tuned_files(table, library, LIBRARIES[library.kind].catalogue(library), output)
    texts = {**written.texts, PAGE: tuned_page(table, written, output, library.name)}
    for name in texts:
        check_new(output / name, force)
    _make(output)
    for name, text in texts.items():
        write_file(output / name, text.encode(), force)
    for line in tuned_lines(table, written, output):
        typer.echo(line)


def _make(folder: Path) -> None:
    from timpani.errors import cannot_write

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


@tune.command()
def lint(
    file: Annotated[Path, typer.Argument(help="A file that a library chooses algorithms by.", show_default=False)],
    mpi: Library = None,
) -> None:
    """Say what is wrong with a library's tuning file; the exit status is 1 where something is."""
    from timpani.study.counted import counted
    from timpani.tuned.foreign import read_file

    found = read_file(file, mpi)
    faults = list(found.format.lint(found.text, found.catalogue, found.mpi))
    for fault in faults:
        where = f"{file}:{fault.line}" if fault.line else str(file)
        typer.echo(f"{where}: {fault.severity}: {fault.what}: {fault.consequence}; {fault.mend}")
    errors = sum(fault.severity == "error" for fault in faults)
    typer.echo(
        f"{found.format.title}, read for {found.mpi}: {counted(errors, 'error')}, "
        f"{counted(len(faults) - errors, 'warning')}"
    )
    raise typer.Exit(1 if faults else 0)


@tune.command()
def explain(
    file: Annotated[Path, typer.Argument(help="A file that a library chooses algorithms by.", show_default=False)],
    ranks: Annotated[int, typer.Option("--ranks", "-n", "-np", min=1, help="Ranks of the communicator.")] = 2,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes that they are on.")] = 1,
    mpi: Library = None,
) -> None:
    """Say what the library would choose by a file, at each size from 1 B to 1 GiB."""
    from timpani.errors import UserError
    from timpani.report.explained import explained
    from timpani.tuned.foreign import read_file

    if nodes > ranks:
        raise UserError(f"{ranks} ranks can't be on {nodes} nodes", "give fewer nodes, or more ranks")
    found = read_file(file, mpi)
    choice = found.format.read(found.text, found.catalogue)
    for line in explained(choice, ranks, nodes):
        typer.echo(line)
