"""All batch systems. Where one runs inside a job of another, the inner one stands first."""

from collections.abc import Mapping

from timpani.errors import UserError, unknown
from timpani.machine.batch import flux_jobs, grid_engine_jobs, lsf_jobs, pals_jobs, pbs_jobs, slurm_jobs
from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import BatchSystem, JobForm

BATCH_SYSTEMS: dict[str, BatchSystem] = {
    each.SYSTEM.kind: each.SYSTEM for each in (flux_jobs, pals_jobs, slurm_jobs, pbs_jobs, lsf_jobs, grid_engine_jobs)
}

SCRIPTED = tuple(sorted(kind for kind, system in BATCH_SYSTEMS.items() if system.form))
"""Those that Timpani writes job scripts for."""


def names_batch_system(text: str) -> bool:
    """Whether what was typed for `--on` asks for a job: it begins with the word for a batch system."""
    return text.partition(",")[0].partition(":")[0] in BATCH_SYSTEMS


_MAX_NAME_CHARACTERS = 200


def current_job(environment: Mapping[str, str]) -> dict[str, str] | None:
    """The `system`, `name` and `id` of the job that has these variables; None outside a job. A name that cannot be
    printed is empty."""
    for system in BATCH_SYSTEMS.values():
        found = [environment.get(variable, "")[:_MAX_NAME_CHARACTERS] for variable in system.job_variables]
        if found and found[1]:
            name, number = (text if text.isprintable() else "" for text in found)
            return {"system": system.name, "name": name, "id": number}
    return None


def form_of(job: BatchJob) -> JobForm:
    """How `job` is asked for; UserError where its system has no scripts, or no word for a setting."""
    if job.system not in SCRIPTED:
        raise unknown("batch system with job scripts", job.system, SCRIPTED, "timpani script --help")
    system = BATCH_SYSTEMS[job.system]
    form = system.form
    assert form, "SCRIPTED has those with a form"
    for setting, instead in form.lacks.items():
        if getattr(job, setting) is not None:
            raise UserError(f"jobs of {system.name} have no {setting}", instead)
    if form.needs_tasks and job.tasks is None:
        raise UserError(f"{system.name} must know how many ranks a node takes", f"add tasks=48, say, to {job.system}")
    if job.jobs > 1 and not form.index:
        raise UserError(f"{system.name} has no arrays of jobs", "leave out jobs=, and submit the script again")
    return form
