"""`timpani bundle`: a campaign as one file."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from timpani.campaign.folder.bundle import SUFFIX, pack
from timpani.campaign.folder.load import load, sample_warnings
from timpani.campaign.merge import MergeSource
from timpani.campaign.merge import merge as merge_campaigns
from timpani.campaign.read.doubts import Doubt
from timpani.campaign.read.held_names import held_names
from timpani.cli.terminal.completing import complete_machine_campaign
from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force, output_option
from timpani.errors import UserError, printable
from timpani.report.document.output_files import check_new, write_file
from timpani.slices import Hook
from timpani.study.words import counted, listed

_MAX_NAMED = 8
"""Of each kind of names."""

_LOGS: Hook[Callable[..., tuple[dict[Path, int], list[Doubt], list[str]]]] = Hook("BENCHMARK_IMPORT")
"""Makes campaigns of benchmarks' output; as `imports/log_import.py` has it.

Returns the number of results by folder, what is doubtful in them, and notes for the user.
"""

_PUBLISHED: Hook[Callable[[str, Path, str], tuple[int, list[Doubt]]]] = Hook("PUBLISHED_IMPORT")
"""Makes a campaign of a published table, by its name, the campaign's folder and the typed command.

Returns the number of results, and what is doubtful in the table.
"""


def bundle(
    folder: Campaign = None,
    output: Annotated[
        Path | None,
        output_option("The file to write.", "the folder's name, .timpani.zip"),
    ] = None,
    force: Force = False,
) -> None:
    """Pack a campaign into one file: records, raw samples, report, checksums. Commands that read campaigns open it.

    It holds names of hosts, users and folders, as the campaign does, and prints them.
    """
    place = campaign_or_newest(folder)
    file = output or Path(f"{place.resolve().name.removesuffix(SUFFIX)}{SUFFIX}")
    check_new(file, force)  # before the work
    campaign = load(place)
    for text in sample_warnings(campaign):
        typer.echo(f"Warning: {text}", err=True)
    from timpani.report.page.page import render  # other commands of this file need nothing that draws

    write_file(file, pack(campaign.folder, render(campaign).encode()), force)
    names = held_names(campaign)
    kinds = {"hosts": names.hosts, "users": names.users, "folders": names.folders}
    if named := [_held_names(kind, found) for kind, found in kinds.items() if found]:
        typer.echo(f"it names {listed(named)}: send it only to people who may know them", err=True)
    typer.echo(f"{file} ({file.stat().st_size / 1e6:.1f} MB): `timpani report {shlex.quote(str(file))}` opens it")


def _held_names(kind: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{kind} ({', '.join(names[:_MAX_NAMED])}{more})"


def merge(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="[MACHINE=]DIR…",
            help="Campaigns, as folders or bundles; MACHINE renames a campaign's machine.",
            autocompletion=complete_machine_campaign,
        ),
    ],
    output: Annotated[Path, output_option("The merged campaign's folder: new or empty.")],
) -> None:
    """Join campaigns of several machines or days into one, with the provenance of each.

    On one machine the launches of a cell are joined. Cells of different machines stay apart.
    """
    command = shlex.join(["timpani", *sys.argv[1:]])
    sources = [MergeSource.parse(text) for text in folders]
    for note in merge_campaigns(sources, output, command):
        typer.echo(f"Note: {printable(note)}", err=True)
    machines = len(frozenset[str]().union(*(each.names for each in sources)))
    typer.echo(
        f"{counted(len(sources), 'campaign')} of {counted(machines, 'machine')} in {output}; "
        f"`timpani show {shlex.quote(str(output))}` shows them"
    )


def import_(
    output: Annotated[Path, output_option("The campaign's folder: new or empty. Of pico a folder for campaigns.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALGORITHM=]FILE… | pico PATH…",
            help="Files of OSU, IMB or ReproMPI: osu.log, or default=a.log chain=b.log. After the word pico results of "
            "PICO: a tree, a system, archives (folders or .tar.gz), tests or files.",
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
    folders_are_jobs: Annotated[
        bool, typer.Option("--job-folders", help="Each folder of logs is a batch job, named as the folder.")
    ] = False,
) -> None:
    """Make a campaign from the output of benchmarks or from a published table."""
    command = shlex.join(["timpani", *sys.argv[1:]])
    if bool(files) == (published is not None):
        raise UserError("give either files or --published", "name benchmarks' output, or one published table")
    if published is not None:
        count, doubts = _PUBLISHED.only("--published")(published, output, command)
        counts = {output: count}
    else:
        counts, doubts, notes = _LOGS.only("import of benchmarks' output")(
            files,
            output,
            algorithm=algorithm,
            ranks=ranks,
            machine=machine,
            datatype=datatype,
            command=command,
            any_name=any_name,
            folders_are_jobs=folders_are_jobs,
        )
        typer.echo("".join(f"{printable(note)}\n" for note in notes), err=True, nl=False)
    for doubt in doubts:
        typer.echo(f"Warning: doubtful: {doubt.text}", err=True)
    for folder, count in counts.items():
        typer.echo(f"{counted(count, 'result')} in {folder}; `timpani show {shlex.quote(str(folder))}` shows them")
