"""`timpani script`: the job that `--on slurm:PARTITION` submits, or another batch system's, to read and change."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.ending import RESUMES
from timpani.errors import UserError
from timpani.machine.batch.batch_job import BatchJob, loaded_modules
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, job_script, names_batch_system
from timpani.machine.batch.slurm_jobs import follow_job, submit

_ON = "--on"
_DRY_RUN = "--dry-run"

JOB_SETTINGS = (
    "After the partition or queue, settings of the job, separated by commas: nodes=2, tasks=48 (on each node), "
    "time=2:00:00, jobs=1 (number of jobs, which run one after another), account=, qos=, constraint=, "
    "modules=gcc+openmpi/5.0."
)


def asks_for_job(on: str | None) -> bool:
    """Whether `--on` names a batch system, and no machine."""
    return on is not None and names_batch_system(on)


def place_named(words: Sequence[str]) -> str | None:
    """The last value of `--on` among the words of a command; None where it has none."""
    following = [value for word, value in pairwise(words) if word == _ON]
    joined = [word.removeprefix(f"{_ON}=") for word in words if word.startswith(f"{_ON}=")]
    return next(iter([*following, *joined][-1:]), None)


def run_as_job(on: str, dry_run: bool, added: Sequence[str] = (), launches: int | None = None) -> None:
    """Submit what was typed as a job and follow it, or print its script; exits with status 1 where the job failed.

    added     words to add, so that the command means the same whenever the job runs
    launches  of the campaign, which an array of jobs shares; None: each job does as much as it can
    """
    job = BatchJob.parse(on)
    job = replace(job, modules=job.modules or loaded_modules(os.environ))
    script = job_script(job, [_timpani(), *_for_the_job(sys.argv[1:]), *added, _ON, "here"], launches)
    if dry_run:
        typer.echo(script, nl=False)
    else:
        _submit(job.system, script)


def _submit(system: str, script: str) -> None:
    if system != "slurm":
        form = BATCH_SYSTEMS[system].form
        command = f"{form.submit} job.sh" if form else ""
        raise UserError("Timpani submits jobs to Slurm only", f"`timpani script … > job.sh`, then `{command}`, does it")
    number = submit(script)
    typer.echo(f"job {number}; `scancel {number}` ends it, and it continues when this command is stopped", err=True)
    end = follow_job(number)
    how = ", ".join(sorted(end.states)).lower() or "forgotten by Slurm"
    if not end.seen and not (end.states and end.states <= {"CANCELLED"}):
        raise UserError(
            f"job {number} ended ({how}) and wrote no log in {Path.cwd()}: its node may not share this folder",
            "start from a folder that all nodes share, such as a home folder, and not /tmp",
        )
    if end.states <= {"COMPLETED"}:
        return
    typer.echo(f"job {number}: {how}; {RESUMES}", err=True)
    raise typer.Exit(1)


def _for_the_job(words: Sequence[str]) -> list[str]:
    """The words for the job itself, which runs on the nodes that it was given."""
    kept, named = [], False
    for word in words:
        if not named and word not in (_ON, _DRY_RUN) and not word.startswith(f"{_ON}="):
            kept.append(word)
        named = word == _ON
    return kept


def _timpani() -> str:
    """This command, to be found in a job whatever its PATH."""
    command = Path(sys.executable).parent / "timpani"
    return str(command) if command.exists() else "timpani"


_COMMANDS = ("run", "tune", "confirm")

EXAMPLES = f"""Examples:

timpani script bcast --ranks 96 --for slurm:THIN,nodes=2,tasks=48,time=2:00:00,account=abc -o mine

timpani script tune allreduce --ranks 96 --for pbs:workq,nodes=2,tasks=48 -o tuned > job.sh

timpani script confirm tuned --for lsf:normal,nodes=2,tasks=48,modules=gcc+openmpi/5.0

{JOB_SETTINGS}"""


def script(
    context: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT…",
            help="A command (run, tune or confirm) with its arguments and options; `run` may be left out.",
        ),
    ],
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="SYSTEM[:QUEUE][,KEY=VALUE]…",
            help="The batch system: slurm, pbs, lsf or flux; its queue or partition; settings of the job. To give "
            "run or tune a profile by --for, name the batch system by --on.",
            show_default="what --on names",
        ),
    ] = None,
) -> None:
    """Print the job script of `timpani run`, `tune` or `confirm` for a batch system. Nothing is measured or submitted.

    Timpani checks the command as if it ran now. Submit the script with sbatch, qsub, bsub or flux batch.
    """
    words = [*what, *context.args]
    command, words = (words[0], words[1:]) if words[0] in _COMMANDS else ("run", words)
    on = place_named(words)
    if for_ is not None and on is not None:
        if not asks_for_job(on) or asks_for_job(for_):
            raise UserError("--for and --on both name a place", "leave one out: the job runs on the nodes that it gets")
        words, for_ = [*words, "--for", for_], None  # the profile for which `run` and `tune` measure
    place = for_ or on
    if not asks_for_job(place):
        raise UserError("a job script is for a batch system", "name one: --for slurm:PARTITION,nodes=2,time=1:00:00")
    again = [command, *words, *(["--on", str(for_)] if for_ else []), "--dry-run"]
    sys.argv = [sys.argv[0], *again]  # as if it were typed: the script repeats these words
    whole = context.find_root()
    whole.command.main(again, prog_name=whole.info_name, standalone_mode=False)
