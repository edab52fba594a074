"""`timpani import`: logs of benchmarks and published tables as a campaign."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.options import output_option
from timpani.errors import UserError, printable
from timpani.slices import Hook

if TYPE_CHECKING:
    from timpani.campaign.osu.doubts import Doubt

_PUBLISHED: Hook[Callable[[str, Path, str], "tuple[int, list[Doubt]]"]] = Hook("PUBLISHED_IMPORT")
"""Makes a campaign of a published table, by its name, the campaign's folder and the typed command.

Returns the number of results, and what is doubtful in the table.
"""


def import_(
    output: Annotated[Path, output_option("The campaign's folder: new or empty.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALGORITHM=]FILE…",
            help="Files of OSU, IMB, ReproMPI or PICO: osu.log, or default=a.log chain=b.log.",
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            help="In place of files, a published study or table: behrooz, malasi, holt, holt_osu_latency; the first "
            "letters are enough."
        ),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Rank count of collectives, if the files lack it, as OSU's do.")
    ] = None,
    algorithm: Annotated[
        str, typer.Option(help="Algorithm of files that name none: binomial, or openmpi/chain:fanout=4.")
    ] = "default",
    machine: Annotated[str, typer.Option(help="Where it ran.")] = "unknown",
    datatype: Annotated[
        str | None, typer.Option(help="Only this datatype, if the files hold several: MPI_INT.")
    ] = None,
    any_name: Annotated[bool, typer.Option("--any-name", help="Accept algorithms that no library here has.")] = False,
) -> None:
    """Make a campaign from the output of benchmarks or from a published table."""
    from timpani.campaign.osu.log_import import BenchmarkLog, import_logs
    from timpani.study.words import counted

    command = shlex.join(["timpani", *sys.argv[1:]])
    if bool(files) == (published is not None):
        raise UserError("give either files or --published", "name benchmarks' output, or one published table")
    if published is not None:
        count, doubts = _PUBLISHED.only("--published")(published, output, command)
    else:
        logs = [BenchmarkLog.parse(text, algorithm) for text in files or []]
        imported = import_logs(
            logs, output, ranks=ranks, machine=machine, datatype=datatype, command=command, any_name=any_name
        )
        count, doubts = imported.results, imported.doubts
        typer.echo("".join(f"{printable(note)}\n" for note in imported.notes), err=True, nl=False)
    for doubt in doubts:
        typer.echo(f"Warning: doubtful: {doubt.text}", err=True)
    typer.echo(f"{counted(count, 'result')} in {output}; `timpani show {shlex.quote(str(output))}` shows them")
