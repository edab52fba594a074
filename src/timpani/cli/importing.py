"""`timpani import`: old OSU logs as a campaign."""

from pathlib import Path
from typing import Annotated

import typer


def import_(
    files: Annotated[list[Path], typer.Argument(help="What OSU's benchmarks printed, versions 5 to 7.5.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The campaign's folder: new or empty.")],
    ranks: Annotated[
        int | None, typer.Option(min=1, help="How many ranks ran: OSU doesn't print it.", show_default=False)
    ] = None,
    algorithm: Annotated[str, typer.Option(help="What ran: [provider/]name[:parameter=integer,…].")] = "default",
    machine: Annotated[str, typer.Option(help="Where it ran.")] = "unknown",
    datatype: Annotated[
        str | None, typer.Option(help="Which one, where the files hold several: MPI_INT.", show_default=False)
    ] = None,
) -> None:
    """Make a campaign of OSU's output, to show and report like our own."""
    import shlex
    import sys

    from timpani.campaign.osu_import import import_osu
    from timpani.errors import UserError

    if ranks is None:
        raise UserError("OSU's output doesn't say how many ranks ran", "add --ranks N")
    count = import_osu(
        files,
        output,
        ranks=ranks,
        machine=machine,
        algorithm=algorithm,
        datatype=datatype,
        command=shlex.join(["timpani", *sys.argv[1:]]),
    )
    typer.echo(f"{count} results in {output}; `timpani show {shlex.quote(str(output))}` shows them")
