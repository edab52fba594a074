"""`timpani machine`: the machine that is here, as a file."""

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def machine() -> None:
    """Say what a cluster is, in a file for `--on`."""


@app.command()
def detect(
    partition: Annotated[
        str | None, typer.Option(help="Of Slurm, from a login node; else the allocation here.", show_default=False)
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="openmpi, mpich, or a path; else the first found.", show_default=False)
    ] = None,
) -> None:
    """Print a machine file: this computer, the nodes of the Slurm allocation here, or those of a partition."""
    from timpani.machine.detect import detect as detect_machine
    from timpani.machine.model import write_machine
    from timpani.native.find import choose_mpi

    typer.echo(write_machine(detect_machine(choose_mpi(mpi), partition)), nl=False)
