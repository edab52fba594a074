"""`timpani script`: the Slurm job that `timpani run … --on slurm:PARTITION` submits, to read and to change."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from timpani.errors import UserError

PREFIX = "slurm:"


def script(context: typer.Context) -> None:
    """Print the job script of a `timpani run` on Slurm. It takes the arguments of `run`, `--on slurm:PARTITION` too."""
    from timpani.cli.run import run

    checker = typer.Typer(add_completion=False)
    checker.command()(run)
    given = typer.main.get_command(checker).make_context("timpani run", list(context.args)).params
    if not (given["on"] or "").startswith(PREFIX):
        raise UserError("a job script is for Slurm", f"say where: --on {PREFIX}PARTITION,nodes=2,time=1:00:00")
    typer.echo(job_script_of(given["on"], given["output"], given["what"], given["launches"], context.args), nl=False)


def job_script_of(on: str, output: Path | None, what: list[str], launches: int | None, arguments: Sequence[str]) -> str:
    """The job script of `timpani run ARGUMENTS`, which name `on`, `output`, `what` and `launches`."""
    import os
    from dataclasses import replace

    from timpani.machine.slurm_job import SlurmJob, job_script, loaded_modules
    from timpani.study.compose import compose

    if output is None:
        raise UserError("no folder to measure into", "name one with -o DIR")
    job = SlurmJob.parse(on.removeprefix(PREFIX))
    job = replace(job, modules=job.modules or loaded_modules(os.environ))
    count = compose(what, {"launches": launches}).launches
    return job_script(job, [_timpani(), "run", *_inside(arguments)], count)


def _inside(arguments: Sequence[str]) -> list[str]:
    """The arguments for the job itself, which runs on the nodes that it was given."""
    kept, named = [], False
    for argument in arguments:
        if not named and argument not in ("--on", "--dry-run") and not argument.startswith("--on="):
            kept.append(argument)
        named = argument == "--on"
    return [*kept, "--on", "here"]


def _timpani() -> str:
    """This command, to be found in a job whatever its PATH."""
    beside = Path(sys.executable).parent / "timpani"
    return str(beside) if beside.exists() else "timpani"
