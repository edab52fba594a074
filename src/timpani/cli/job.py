"""`timpani script`: the job that `--on slurm:PARTITION` submits, or another batch system's, to read and change."""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Annotated

import typer

from timpani.campaign.run.batch_jobs import JobStep, follow_jobs
from timpani.errors import UserError
from timpani.machine.batch.batch_systems import names_batch_system

_ON = "--on"
_DRY_RUN = "--dry-run"

JOB_SETTINGS = (
    "After the partition or queue, settings of the job, separated by commas: nodes=2, tasks=48 (on each node), "
    "time=2:00:00, jobs=1 (number of jobs, one after another, each on other nodes), account=, qos=, constraint=, "
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


def run_in_jobs(on: str, dry_run: bool, steps: Iterable[JobStep]) -> None:
    """Submit and follow the jobs of `steps`, or print the first script; exits with status 1 where a job failed."""
    if not follow_jobs(on, dry_run, steps, partial(typer.echo, nl=False), partial(typer.echo, err=True)):
        raise typer.Exit(1)


def typed_words(added: Sequence[str] = ()) -> list[str]:
    """The words that were typed, but for the place, and `added` ones: the job runs on the nodes that it is given."""
    kept, named = [], False
    for word in sys.argv[1:]:
        if not named and word not in (_ON, _DRY_RUN) and not word.startswith(f"{_ON}="):
            kept.append(word)
        named = word == _ON
    return [*kept, *added]


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
