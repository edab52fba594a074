"""A campaign measured in jobs of a batch system: one, or several after another, each on other nodes."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.records import JOBS, RESULTS, read_records
from timpani.errors import UserError
from timpani.machine.batch.batch_system import BatchJob, loaded_modules
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, job_script
from timpani.machine.batch.slurm_jobs import RefusedJobError, Submitted, follow_job, placements, submit

_ON = "--on"

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


def follow_jobs(
    on: str, dry_run: bool, steps: Iterable[JobStep], show: Callable[[str], None], note: Callable[[str], None]
) -> bool:
    """Submit a job for each of `steps`, or several, and follow it; or `show` the first script.

    Returns whether no job failed; where one did, the same call later submits what is left. `note` gets lines for the
    user.
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
        show(script or "")
        return True
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
                    show(script)
                    return True
                try:
                    if not _follow(submit(script), which + where, note):
                        return False
                    break
                except RefusedJobError:  # too few other nodes meet the constraint, say
                    if not placed.excluded:
                        raise
    return True


def _follow(job: Submitted, which: str, note: Callable[[str], None]) -> bool:
    """Follow a job to its end; whether it did not fail. `which` and where it is, in words."""
    number = job.number
    note(f"job {number}{which}; `scancel {number}` ends it, and it continues when this command is stopped")
    end = follow_job(job)
    how = end.state.lower() or "forgotten by Slurm"
    if not end.seen and end.state != "CANCELLED":
        raise UserError(
            f"job {number} ended ({how}) and wrote no log in {Path.cwd()}: its node may not share this folder",
            "start from a folder that all nodes share, such as a home folder, and not /tmp",
        )
    if end.state not in ("COMPLETED", ""):
        note(f"job {number}: {how}; the same command continues")
        return False
    return True


def _last_launch(campaign: Path) -> int:
    """The number of the newest launch with a result; 0 where there is no campaign yet."""
    return max((line["launch"] for line in _lines(campaign, RESULTS)), default=0)


def _lines(campaign: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a campaign's file; none where there is no campaign yet."""
    if not (campaign / "campaign.json").exists():
        return []
    return read_records(campaign, read_header(campaign)).values(name)


def _timpani() -> str:
    """This command, to be found in a job whatever its PATH."""
    command = Path(sys.executable).parent / "timpani"
    return str(command) if command.exists() else "timpani"
