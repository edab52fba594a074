"""`timpani script`: the job that `--on slurm:PARTITION` submits, or another batch system's, to read and change."""

import sys
from typing import Annotated

import typer

from timpani.cli.terminal.job_request import JOB_SETTINGS, asks_for_job, place_named
from timpani.errors import UserError

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
