"""`timpani machine`: the machine that is here, as a file."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from timpani.campaign.folder.load import load_one_machine
from timpani.cli.terminal.options import (
    Force,
    Format,
    campaign_argument,
    document_format,
    document_text,
    format_option,
    output_option,
)
from timpani.errors import UserError, unknown
from timpani.judge.cell_table import estimate_cells
from timpani.judge.jobs import History
from timpani.judge.raced import raced_results
from timpani.libraries.find import choose_mpi
from timpani.libraries.launch_request import HostList, host_file
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.machine.detect import detect as detect_machine
from timpani.machine.doctor import examine
from timpani.machine.nodes.host_list import choose_hosts, rank_file, read_loads, requested_places
from timpani.machine.nodes.model import Machine, write_machine
from timpani.machine.nodes.node_set import expand
from timpani.machine.platforms.platform import MessageCost, calibrated_platform
from timpani.machine.where import HERE, resolve
from timpani.models.fit import fit
from timpani.models.hockney import LATENCY, costs_from_zero
from timpani.native.announce import working
from timpani.report.fit.fit_text import curve_name
from timpani.report.verdict.jobs import history_document
from timpani.report.words.output_files import write_file
from timpani.study.placement import check_placement

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


@app.command()
def calibrate(
    folder: Annotated[Path, campaign_argument("A campaign with `latency` over sizes.")],
    output: Annotated[Path, output_option("The new platform file.")],
    nodes: Annotated[int, typer.Option(help="Nodes of the platform.", min=1, max=500)] = 1,
    cores: Annotated[int, typer.Option(help="Cores of each node.", min=1, max=1024)] = 16,
    force: Force = False,
) -> None:
    """Write a platform for SimGrid with the message times of a campaign."""
    campaign = load_one_machine(folder)
    found = fit(campaign.results, estimate_cells(raced_results(campaign)), f"{folder}/results.jsonl")
    latencies = [curve for curve in found.curves if curve.name["collective"] == LATENCY]
    if not latencies:
        raise UserError(f"{folder} has no latency over sizes", "measure it: timpani run latency -o DIR")
    if len(latencies) > 1:
        first = curve_name(latencies[0])
        typer.echo(f"Warning: of {len(latencies)} curves of latency the platform has the first one: {first}", err=True)
    costs = costs_from_zero(latencies[0].regimes)
    in_seconds = [MessageCost(first_bytes, start * 1e-6, per_byte * 1e-6) for first_bytes, start, per_byte in costs]
    name = campaign.header.machine.name or folder.name
    write_file(output, calibrated_platform(name, in_seconds, nodes, cores).encode(), force)
    typer.echo(f"{output}: measure on it with --on {shlex.quote(f'simgrid:{output}')}")


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
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Write Open MPI's rank file instead, a line for each rank.")
    ] = None,
    placement: Annotated[str, typer.Option(help="Placement in the rank file: core, socket, node or ppr:N.")] = "core",
) -> None:
    """Print a host file, or a rank file. `timpani run --hosts FILE` takes host files; mpirun takes both."""
    machine = resolve(on or HERE)
    hosts = choose_hosts(
        machine, category, groups, nodes, slots, expand(exclude or ""), shuffle, read_loads(loads) if loads else None
    )
    if syntax not in LIBRARIES:
        raise unknown("syntax", syntax, LIBRARIES, "timpani hostfile --help")
    library = LIBRARIES[syntax]
    if ranks is None:
        typer.echo(host_file(hosts, library.launcher.host_with_slots), nl=False)
        return
    typer.echo(_rank_file(machine, hosts, library, placement, ranks), nl=False)


def _rank_file(machine: Machine, hosts: HostList, library: Library, placement: str, ranks: int) -> str:
    places = requested_places(machine, hosts, check_placement(placement), ranks)
    if len(places) < ranks:
        raise UserError(f"these hosts have {len(places)} slots for {ranks} ranks", "ask for fewer ranks or more nodes")
    return rank_file(places, library)
