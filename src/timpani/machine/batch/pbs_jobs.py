"""PBS (OpenPBS, PBS Professional): qsub's job scripts, and the nodes of a job of theirs or of Torque's."""

from collections.abc import Iterator, Mapping

from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import Allocation, BatchSystem, JobForm, hosts_of_file

_NODES = "PBS_NODEFILE"


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """The file names a host once for each rank (`mpiprocs`), or with Torque for each core (`ppn`)."""
    return hosts_of_file(environment, _NODES) if _NODES in environment else None


def _directives(job: BatchJob) -> Iterator[str]:
    has = f":{job.constraint}" if job.constraint else ""
    yield "-N timpani"
    if job.queue:
        yield f"-q {job.queue}"
    if job.account:
        yield f"-A {job.account}"
    yield f"-l select={job.nodes}:ncpus={job.tasks}:mpiprocs={job.tasks}{has}"
    yield "-l place=scatter:excl"
    yield f"-l walltime={job.seconds // 3600:02d}:{job.seconds // 60 % 60:02d}:{job.seconds % 60:02d}"
    if job.jobs > 1:
        yield f"-J 1-{job.jobs}%1"
    yield "-j oe"


SYSTEM = BatchSystem(
    kind="pbs",
    name="PBS",
    allocation=allocation,
    queue_variables=("PBS_QUEUE", "PBS_O_QUEUE"),
    job_variables=("PBS_JOBNAME", "PBS_JOBID"),
    form=JobForm(
        sentinel="#PBS ",
        directives=_directives,
        submit="qsub",
        index="PBS_ARRAY_INDEX",
        ending="At the time limit PBS sends TERM, and KILL after its kill_delay",
        first=('cd "$PBS_O_WORKDIR"',),
        lacks={"qos": "name a queue instead"},
        needs_tasks=True,
    ),
)
