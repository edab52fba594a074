"""A Slurm job that measures: asked for in one text, written as a script that a student can read."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from timpani.errors import UserError, unknown

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_TIME = re.compile(r"(?:\d{1,3}-)?\d{1,3}(?::\d{2}){0,2}", re.ASCII)
_NOTICE_SECONDS = 120  # before the limit: a launch is ended and its results are written in a few


@dataclass(frozen=True)
class SlurmJob:
    """What is asked of Slurm. Whole nodes are always asked for: neighbours are in every figure.

    tasks    ranks a node takes; None: as many as it has CPUs
    time     as Slurm writes it: minutes, hours:minutes:seconds, days-hours
    jobs     how many jobs share the launches, one after another
    modules  loaded before it starts
    """

    partition: str
    nodes: int = 2
    tasks: int | None = None
    time: str = "01:00:00"
    jobs: int = 1
    modules: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "SlurmJob":
        """Read `PARTITION[,nodes=N][,tasks=N][,time=T][,jobs=N][,modules=A+B]`, which follows `slurm:`."""
        partition, *settings = text.split(",")
        if not _NAME.fullmatch(partition):
            raise UserError(f"{partition!r} is not a partition", "write slurm:PARTITION, as `sinfo` names it")
        job = cls(partition)
        for setting in settings:
            key, _, value = setting.partition("=")
            if key not in _READ:
                raise unknown("setting of a Slurm job", key, _READ, "docs/machine-files.md")
            pattern, read = _READ[key]
            if not pattern.fullmatch(value):
                raise UserError(f"{value!r} can't be a job's {key}", "docs/machine-files.md has examples")
            job = replace(job, **{key: read(value)})
        return job


_MODULES = re.compile(r"[\w.+/-]+", re.ASCII)
_READ: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "nodes": (_COUNT, int),
    "tasks": (_COUNT, int),
    "jobs": (_COUNT, int),
    "time": (_TIME, str),
    "modules": (_MODULES, lambda text: tuple(text.split("+"))),
}


def job_script(job: SlurmJob, command: Sequence[str], launches: int) -> str:
    """The script for sbatch. `command` is a `timpani run …`; where several jobs share its `launches`, each goes on
    where the one before it ended."""
    asked = {
        "job-name": "timpani",
        "partition": job.partition,
        "nodes": job.nodes,
        "ntasks-per-node": job.tasks,
        "time": job.time,
        "output": "timpani-%A_%a.log" if job.jobs > 1 else "timpani-%j.log",
        "signal": f"B:TERM@{_NOTICE_SECONDS}",
        "array": f"1-{job.jobs}%1" if job.jobs > 1 else None,
    }
    lines = ["#!/bin/bash", *(f"#SBATCH --{key}={value}" for key, value in asked.items() if value is not None)]
    lines += ["#SBATCH --exclusive", ""]
    if job.modules:
        lines += [f"module load {shlex.join(job.modules)}", ""]
    lines += [
        f"# {_NOTICE_SECONDS} s before the time limit Slurm sends TERM, and `exec` lets it reach the run: the launch",
        "# under way is ended, what was measured is kept, and the same command goes on in the next job.",
    ]
    words = " ".join(map(_quoted, command))
    if job.jobs > 1:
        lines += [f"# Job k of {job.jobs} takes its share of the {launches} launches."]
        words += f' --launches "$((({launches} * SLURM_ARRAY_TASK_ID + {job.jobs - 1}) / {job.jobs}))"'
    return "\n".join([*lines, f"exec {words}", ""])


def _quoted(word: str) -> str:
    """One word of Bash's; what can't be printed is written as its escape: the script is read on terminals."""
    if word.isprintable():
        return shlex.quote(word)
    raw = word.encode(errors="surrogateescape")
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\" else f"\\x{byte:02x}" for byte in raw)
    return f"$'{''.join(plain)}'"


def loaded_modules(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The modules of this shell, as both implementations of `module` list them."""
    return tuple(name for name in environment.get("LOADEDMODULES", "").split(":") if name)
