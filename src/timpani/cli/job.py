"""`timpani script`: the job that `--on slurm:PARTITION` submits, or another batch system's, to read and change."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.records import JOBS, RESULTS, read_records
from timpani.cli.terminal.measuring import RESUMES
from timpani.errors import UserError
from timpani.machine.batch.batch_system import BatchJob, loaded_modules
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, job_script, names_batch_system
from timpani.machine.batch.slurm_jobs import RefusedJobError, follow_job, placements, submit

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


JOB_LAUNCHES = 2
"""Launches in each of several jobs, where none are given: the least that shows a failure and a second mode."""


def launches_of_job(on: str, typed: int | None) -> int | None:
    """The launches of each of several jobs; None where `on` asks for one job, whose command has them."""
    return (typed or JOB_LAUNCHES) if BatchJob.parse(on).jobs > 1 else None


@dataclass(frozen=True)
class JobStep:
    """The work of one job, or with `launches` that of each of several jobs, which run one after another.

    words        of the command in the job, but for its place
    campaign     which it measures into
    launches     that each of several jobs adds; None: one job
    resumed      whether the next step measures what the last job left
    elsewhere    further campaigns of jobs whose nodes it avoids
    notes        for a reader of the script
    """

    words: Sequence[str]
    campaign: Path
    launches: int | None = None
    resumed: bool = False
    elsewhere: Sequence[Path] = ()
    notes: Sequence[str] = ()

    def commands(self, jobs: int) -> Iterator[tuple[str, list[str]]]:
        """Each job by its number and its command, as far as it has not measured yet."""
        command = [_timpani(), *self.words, _ON, "here"]
        if self.launches is None:
            yield "", command
            return
        for number in range(1, jobs + 1):
            upto = number * self.launches
            if (number < jobs or self.resumed) and _last_launch(self.campaign) >= upto:
                continue
            yield f" ({number} of {jobs})", [*command, "--launches", str(upto)]


def run_in_jobs(on: str, dry_run: bool, steps: Iterable[JobStep]) -> None:
    """Submit a job for each of `steps`, or several, and follow it; or print the first script.

    Exits with status 1 where a job failed; the same command then submits what is left.
    """
    job = BatchJob.parse(on)
    job = replace(job, modules=job.modules or loaded_modules(os.environ))
    if job.system != "slurm":
        first = next(iter(steps), None)
        script = first and job_script(job, [_timpani(), *first.words, _ON, "here"], first.launches, first.notes)
        if not dry_run:
            form = BATCH_SYSTEMS[job.system].form
            submit_it = f"{form.submit} job.sh" if form else ""
            raise UserError(
                "Timpani submits jobs to Slurm only", f"`timpani script … > job.sh`, then `{submit_it}`, does it"
            )
        typer.echo(script or "", nl=False)
        return
    for step in steps:
        avoided, notes = [*step.elsewhere], [*step.notes]
        if step.launches is not None:
            avoided.append(step.campaign)
            again = f"each on other nodes and with {step.launches} more --launches"
            notes = [
                f"`timpani {step.words[0]} --on slurm:…` submits {job.jobs} jobs one after another, {again}",
                *notes,
            ]
        for which, command in step.commands(job.jobs):
            earlier = [line["nodes"] for campaign in avoided for line in _lines(campaign, JOBS)]
            for placed, where in placements(job, earlier):
                script = job_script(replace(placed, jobs=1), command, notes=notes)
                if dry_run:
                    typer.echo(script, nl=False)
                    return
                try:
                    _follow(submit(script), which + where)
                    break
                except RefusedJobError:  # too few other nodes meet the constraint, say
                    if not placed.excluded:
                        raise


def _follow(number: str, which: str) -> None:
    """Follow a job to its end; exits with status 1 where it failed. `which` and where it is, in words."""
    typer.echo(
        f"job {number}{which}; `scancel {number}` ends it, and it continues when this command is stopped", err=True
    )
    end = follow_job(number)
    how = end.state.lower() or "forgotten by Slurm"
    if not end.seen and end.state != "CANCELLED":
        raise UserError(
            f"job {number} ended ({how}) and wrote no log in {Path.cwd()}: its node may not share this folder",
            "start from a folder that all nodes share, such as a home folder, and not /tmp",
        )
    if end.state not in ("COMPLETED", ""):
        typer.echo(f"job {number}: {how}; {RESUMES}", err=True)
        raise typer.Exit(1)


def _last_launch(campaign: Path) -> int:
    """The number of the newest launch with a result; 0 where there is no campaign yet."""
    return max((line["launch"] for line in _lines(campaign, RESULTS)), default=0)


def _lines(campaign: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a campaign's file; none where there is no campaign yet."""
    if not (campaign / "campaign.json").exists():
        return []
    return read_records(campaign, read_header(campaign)).values(name)


def typed_words(added: Sequence[str] = ()) -> list[str]:
    """The words that were typed, but for the place, and `added` ones: the job runs on the nodes that it is given."""
    kept, named = [], False
    for word in sys.argv[1:]:
        if not named and word not in (_ON, _DRY_RUN) and not word.startswith(f"{_ON}="):
            kept.append(word)
        named = word == _ON
    return [*kept, *added]


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
