"""A job that measures, written as a script that a student can read."""

import shlex
import textwrap
from collections.abc import Sequence

from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_systems import form_of


def job_script(job: BatchJob, command: Sequence[str], launches: int | None) -> str:
    """The script. Where several jobs do the work of `command`, each resumes where the one before it ended.

    launches  of the whole campaign, of which each job takes its share; None: each job does as much as it can
    """
    form = form_of(job)
    lines = ["#!/bin/bash", *(f"{form.sentinel}{each}" for each in form.directives(job)), "", *form.first]
    if job.modules:
        lines += [f"module load {shlex.join(job.modules)}"]
    if form.first or job.modules:
        lines.append("")
    ending = (
        f"{form.ending}: the launch under way is ended, what was measured is kept, and the same command resumes in the "
        "next job."
    )
    lines += [f"# {each}" for each in textwrap.wrap(ending, width=110)]
    words = " ".join(map(_quoted, command))
    if job.jobs > 1 and launches is not None:
        lines += [f"# Job k of {job.jobs} takes its share of the {launches} launches."]
        words += f' --launches "$((({launches} * {form.index} + {job.jobs - 1}) / {job.jobs}))"'
    return "\n".join([*lines, f"exec {words}", ""])


def _quoted(word: str) -> str:
    """One word of Bash's; what can't be printed is written as its escape: the script is read on terminals."""
    if word.isprintable():
        return shlex.quote(word)
    raw = word.encode(errors="surrogateescape")
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\" else f"\\x{byte:02x}" for byte in raw)
    return f"$'{''.join(plain)}'"
