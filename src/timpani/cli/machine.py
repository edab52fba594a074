"""`timpani machine`: the machine that is here, as a file."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import Force, campaign_argument, output_option
from timpani.errors import UserError

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
    from timpani.libraries.find import choose_mpi
    from timpani.machine.here.detect import detect as detect_machine
    from timpani.machine.nodes.model import write_machine

    typer.echo(write_machine(detect_machine(choose_mpi(mpi), partition)), nl=False)


@app.command()
def calibrate(
    folder: Annotated[Path, campaign_argument("A campaign with `latency` over sizes.")],
    output: Annotated[Path, output_option("The new platform file.")],
    nodes: Annotated[int, typer.Option(help="Nodes of the platform.", min=1, max=500)] = 1,
    cores: Annotated[int, typer.Option(help="Cores of each node.", min=1, max=1024)] = 16,
    force: Force = False,
) -> None:
    """Write a platform for SimGrid with the message times of a campaign."""
    from timpani.campaign.folder.load import load_one_machine
    from timpani.campaign.read.cell_table import estimate_cells
    from timpani.machine.platforms.calibrated import MessageCost, calibrated_platform
    from timpani.models.fit import fit
    from timpani.prediction.costs import LATENCY, message_lines
    from timpani.report.fit.fit_text import curve_name
    from timpani.report.words.output_files import write_file

    campaign = load_one_machine(folder)
    found = fit(campaign.results, estimate_cells(campaign.raced), f"{folder}/results.jsonl")
    latencies = [curve for curve in found.curves if curve.name["collective"] == LATENCY]
    if not latencies:
        raise UserError(f"{folder} has no latency over sizes", "measure it: timpani run latency -o DIR")
    if len(latencies) > 1:
        first = curve_name(latencies[0])
        typer.echo(f"Warning: of {len(latencies)} curves of latency the platform has the first one: {first}", err=True)
    lines = message_lines(latencies[0])
    in_seconds = [MessageCost(line.first_bytes, line.gap * 1e-6, line.per_byte * 1e-6) for line in lines]
    name = campaign.header.machine.name or folder.name
    write_file(output, calibrated_platform(name, in_seconds, nodes, cores).encode(), force)
    typer.echo(f"{output}: measure on it with --on {shlex.quote(f'simgrid:{output}')}")
