"""The Slurm job that `timpani run … --on slurm:PARTITION` stands for."""

import sys
from collections.abc import Sequence
from pathlib import Path

from timpani.cli.terminal.default_folder import folder_of_today

PREFIX = "slurm:"


def job_script_of(on: str, output: Path | None, what: list[str], launches: int | None, arguments: Sequence[str]) -> str:
    """The job script of `timpani run ARGUMENTS`, which name `on`, `output`, `what` and `launches`."""
    import os
    from dataclasses import replace

    from timpani.machine.launchers.slurm_job import SlurmJob, job_script, loaded_modules
    from timpani.study.compose import compose

    named = [] if output else ["-o", str(folder_of_today(what))]  # of today, whenever the job runs
    job = SlurmJob.parse(on.removeprefix(PREFIX))
    job = replace(job, modules=job.modules or loaded_modules(os.environ))
    count = compose(what, {"launches": launches}).launches
    return job_script(job, [_timpani(), "run", *_inside(arguments), *named], count)


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
