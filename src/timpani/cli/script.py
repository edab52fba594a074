"""`timpani script`: the Slurm job that `timpani run … --on slurm:PARTITION` submits, to read and to change."""

import typer

from timpani.cli.run import run
from timpani.cli.terminal.slurm_request import PREFIX, job_script_of
from timpani.errors import UserError


def script(context: typer.Context) -> None:
    """Print the job script of a `timpani run` on Slurm. It takes the arguments of `run`, `--on slurm:PARTITION` too."""
    checker = typer.Typer(add_completion=False)
    checker.command()(run)
    given = typer.main.get_command(checker).make_context("timpani run", list(context.args)).params
    if not (given["on"] or "").startswith(PREFIX):
        raise UserError("a job script is for Slurm", f"say where: --on {PREFIX}PARTITION,nodes=2,time=1:00:00")
    typer.echo(job_script_of(given["on"], given["output"], given["what"], given["launches"], context.args), nl=False)
