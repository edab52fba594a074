"""Hand a job to Slurm and follow it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError
from timpani.lab.enter import LAB_VARIABLE
from timpani.lab.lab import labs

_POLL_SECONDS = 2.0
_LOG_SECONDS = 20.0  # until a log written on a node is visible here: NFS keeps what it knows of a folder that long
_FORGOTTEN = "Invalid job id"
"""What squeue says of a job that ended some minutes ago; its other errors may pass: the controller restarts, say."""

_UNREACHABLE = (
    "Could not establish a configuration source",
    "Unable to contact slurm controller",
    "Unable to process configuration file",
    "Unable to establish configuration source",
    "Insane message length",
    "Connection refused",
    "Connection timed out",
    "Communication connection failure",
    "Protocol authentication error",
    "Invalid authentication credential",
)
"""What Slurm's commands print where they don't reach the controller, or it doesn't accept them; libslurm's errors."""


@dataclass(frozen=True)
class JobEnd:
    """How a job, or each of an array, ended. `states` is empty where Slurm has forgotten the job; `seen` is whether its
    log is in the current folder."""

    states: frozenset[str]
    seen: bool


def submit(script: str) -> str:
    """The number of the job that `script` became; UserError where Slurm isn't reached from here, or refuses it."""
    done = _slurm("sbatch", "--parsable", text=script)
    if done.returncode:
        said = " ".join(done.stderr.split())
        if any(each in said for each in _UNREACHABLE):
            last = done.stderr.strip().splitlines()[-1]
            raise UserError(f"Slurm can't be reached from here ({last})", _reach_slurm())
        raise UserError(
            f"sbatch refused the job: {said or 'nothing'}", "`timpani script` prints it; `sinfo` shows partitions"
        )
    return done.stdout.strip().partition(";")[0]


def _reach_slurm() -> str:
    """What to do where Slurm's commands don't work."""
    step = "Slurm's commands work from its login and compute nodes only"
    with_slurm = [lab.id for lab in labs() if lab.whole and lab.layout and lab.layout.slurm]
    if LAB_VARIABLE in os.environ or not with_slurm:
        return f"{step}: run this there"
    return f"{step}: for lab {with_slurm[0]}, `timpani lab exec --lab {with_slurm[0]} n1 -- timpani …`"


def follow_job(number: str, sleep: Callable[[float], None] = time.sleep) -> JobEnd:
    """Copy the logs of a job, or of an array of them, to stderr until all of its jobs have ended."""
    read: dict[Path, int] = {}
    while True:
        listed = _slurm("squeue", "--noheader", f"--jobs={number}", "--format=%T")
        _copy_logs(number, read)
        if (listed.returncode == 0 and not listed.stdout.strip()) or _FORGOTTEN in listed.stderr:
            break
        sleep(_POLL_SECONDS)
    states = _states(number)
    for _ in range(round(_LOG_SECONDS / _POLL_SECONDS)):
        if read or states <= {"CANCELLED"}:  # before it started, say
            break
        sleep(_POLL_SECONDS)
        _copy_logs(number, read)
    return JobEnd(frozenset(states), bool(read))


def _states(number: str) -> set[str]:
    """How each job of the array ended; the controller remembers for some minutes."""
    shown = _slurm("scontrol", "--oneliner", "show", "job", number).stdout.split()
    return {word.partition("=")[2] for word in shown if word.startswith("JobState=")}


def _copy_logs(number: str, read: dict[Path, int]) -> None:
    """Copy what is new; `read` holds the position in each log."""
    for log in sorted(Path().glob(f"timpani-{number}[._]*")):
        with log.open("rb") as file:
            file.seek(read.get(log, 0))
            sys.stderr.write(file.read().decode(errors="replace"))
            sys.stderr.flush()
            read[log] = file.tell()


def _slurm(program: str, *arguments: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
    path = shutil.which(program)
    if path is None:
        raise UserError(f"there is no {program} here", _reach_slurm())
    return subprocess.run([path, *arguments], input=text, capture_output=True, text=True, check=False)
