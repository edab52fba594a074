"""Hand a job to Slurm and follow it."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from timpani.errors import UserError

_POLL_SECONDS = 2.0
_FORGOTTEN = "Invalid job id"
"""What squeue says of a job that ended some minutes ago; its other errors may pass: the controller restarts, say."""


def submit(script: str) -> str:
    """The number of the job that `script` became."""
    done = _slurm("sbatch", "--parsable", text=script)
    if done.returncode:
        said = next(iter(done.stderr.strip().splitlines()), "nothing")
        raise UserError(f"sbatch refused the job: {said}", "`timpani script` prints it; `sinfo` shows partitions")
    return done.stdout.strip().partition(";")[0]


def follow_job(number: str) -> set[str]:
    """Copy the logs of a job, or of an array of them, to stderr until none is left; returns how they ended."""
    read: dict[Path, int] = {}
    while True:
        listed = _slurm("squeue", "--noheader", f"--jobs={number}", "--format=%T")
        for log in sorted(Path().glob(f"timpani-{number}[._]*")):
            read[log] = _copy(log, read.get(log, 0))
        if (listed.returncode == 0 and not listed.stdout.strip()) or _FORGOTTEN in listed.stderr:
            return _states(number)
        time.sleep(_POLL_SECONDS)


def _states(number: str) -> set[str]:
    """How each job of the array ended; the controller remembers for some minutes."""
    shown = _slurm("scontrol", "--oneliner", "show", "job", number).stdout.split()
    return {word.partition("=")[2] for word in shown if word.startswith("JobState=")}


def _copy(log: Path, position: int) -> int:
    with log.open("rb") as file:
        file.seek(position)
        sys.stderr.write(file.read().decode(errors="replace"))
        sys.stderr.flush()
        return file.tell()


def _slurm(program: str, *arguments: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
    path = shutil.which(program)
    if path is None:
        raise UserError(f"there is no {program} here", "run this where Slurm's commands are: on a login node")
    return subprocess.run([path, *arguments], input=text, capture_output=True, text=True, check=False)
