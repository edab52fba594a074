"""`timpani import`: logs of benchmarks and published tables as a campaign; what mpiP or mpisee wrote as a profile."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import output_option
from timpani.errors import UserError, printable


def import_(
    output: Annotated[Path, output_option("The campaign's or profile's folder: new or empty.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALGORITHM=]FILE…",
            help="Files of OSU, IMB, ReproMPI or PICO: osu.log, or default=a.log chain=b.log. Or of mpiP or mpisee.",
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
    """Make a campaign from the output of benchmarks or from a published table, or a profile from mpiP or mpisee."""
    from timpani.campaign.osu.log_import import BenchmarkLog, import_logs
    from timpani.campaign.osu.published_tables import import_published, read_published
    from timpani.campaign.osu.published_times import published_doubts
    from timpani.study.words import counted

    command = shlex.join(["timpani", *sys.argv[1:]])
    if bool(files) == (published is not None):
        raise UserError("give either files or --published", "name benchmarks' output, or one published table")
    of_benchmarks = (ranks, datatype, any_name, algorithm != "default", machine != "unknown")
    if _imported_profile(files or [], output, any(of_benchmarks)):
        return
    if published is not None:
        count = import_published(published, output, command)
        doubts = published_doubts(read_published(published, "measurements"))
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


def _imported_profile(files: list[str], output: Path, other_options: bool) -> bool:
    """Write what mpiP or mpisee wrote as a profile; False where no file is theirs.

    UserError with other files or options.
    """
    from timpani.programs.imported.mpip_import import import_mpip
    from timpani.programs.imported.mpip_report import is_mpip_report
    from timpani.programs.imported.mpisee_import import import_mpisee, is_database

    for detects, imports, what in (
        (is_mpip_report, import_mpip, "a report of mpiP"),
        (is_database, import_mpisee, "a database of mpisee"),
    ):
        found = [Path(text) for text in files if detects(Path(text))]
        if not found:
            continue
        if len(files) > 1 or other_options:
            raise UserError(f"{found[0]} is {what}", "import it alone, with no option but -o")
        imports(found[0], output)
        typer.echo(f"the profile is in {output}; `timpani show {shlex.quote(str(output))}` shows it")
        return True
    return False
