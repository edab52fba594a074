"""`timpani machine`: the machine that is here, as a file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from timpani.campaign.folder.load import load_one_machine
from timpani.cli.terminal.options import (
    Format,
    document_format,
    document_text,
    format_option,
)
from timpani.errors import unknown
from timpani.judge.jobs import History
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import host_file
from timpani.libraries.registry import LIBRARIES
from timpani.machine.detect import HERE, resolve
from timpani.machine.detect import detect as detect_machine
from timpani.machine.doctor import examine
from timpani.machine.nodes.host_list import choose_hosts, read_loads
from timpani.machine.nodes.model import expand, write_machine
from timpani.native.announce import working
from timpani.report.verdict.answer import history_document

app = typer.Typer(no_args_is_help=True)


@app.callback()
def machine() -> None:
    """Describe a cluster in a file for `--on`."""


@app.command()
def detect(
    partition: Annotated[
        str | None, typer.Option(help="A partition of Slurm, from a login node; without it, the current allocation.")
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="openmpi, mpich, intel, or a path; by default the first found.")
    ] = None,
) -> None:
    """Print a machine file: this computer, the nodes of the Slurm allocation here, or those of a partition."""
    typer.echo(write_machine(detect_machine(choose_mpi(mpi), partition)), nl=False)


@app.command()
def history(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Campaigns of one machine.")],
    format: Annotated[Format, document_format()] = Format.text,
) -> None:
    """Show how much times vary between jobs of a machine, and remember it for later verdicts."""
    found = History.of_campaigns([load_one_machine(folder) for folder in folders])
    typer.echo(document_text(history_document(found, found.remember()), format), nl=False)


def doctor(
    format: Annotated[Format, format_option("How to print the findings.")] = Format.text,
) -> None:
    """List the MPI libraries here, and what would disturb a measurement, with fixes."""
    with working("examining this computer"):
        findings = examine()
    if format is Format.json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        table = Table("", "subject", box=None, header_style="bold", padding=(0, 1))
        table.add_column("finding", overflow="fold")  # a path without its end can't be copied
        marks = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "problem": ("PROBLEM", "bold red")}
        for finding in findings:
            what = Text(finding.what)
            if finding.fix:
                what.append(f"\n→ {finding.fix}", style="dim" if finding.level == "ok" else "")
            table.add_row(Text(*marks[finding.level]), finding.subject, what)
        Console().print(table)
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)


_Loads = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take the less loaded nodes of each group: lines `NODE LOAD`, as sinfo -Nho '%N %O' prints them.",
    ),
]


def hostfile(
    on: Annotated[
        str | None, typer.Option(metavar="WHERE", help="A machine file; without it, this computer or allocation.")
    ] = None,
    category: Annotated[
        int,
        typer.Option(min=1, max=3, help="1: by group, with slots; 2: by group; 3: nodes alternating between groups."),
    ] = 1,
    groups: Annotated[int | None, typer.Option(min=1, help="How many groups; by default all.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="How many nodes; by default all.")] = None,
    slots: Annotated[
        int | None, typer.Option(min=1, help="Ranks of a node in category 1; by default its cores.")
    ] = None,
    exclude: Annotated[str | None, typer.Option(metavar="NODES", help="A node set to leave out: node[03,07].")] = None,
    shuffle: Annotated[int | None, typer.Option(metavar="SEED", help="Shuffle the groups by this seed.")] = None,
    loads: _Loads = None,
    syntax: Annotated[
        str, typer.Option(metavar="LIBRARY", help="The library whose launcher will read it: openmpi, mpich, …")
    ] = "openmpi",
) -> None:
    """Print a host file, for `timpani run --hosts FILE` or for mpirun."""
    busy = read_loads(loads) if loads else None
    hosts = choose_hosts(resolve(on or HERE), category, groups, nodes, slots, expand(exclude or ""), shuffle, busy)
    if syntax not in LIBRARIES:
        raise unknown("syntax", syntax, LIBRARIES, "timpani hostfile --help")
    typer.echo(host_file(hosts, LIBRARIES[syntax].launcher.host_with_slots), nl=False)
