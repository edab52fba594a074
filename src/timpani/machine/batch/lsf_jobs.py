"""LSF: bsub's job scripts, and the nodes of a job."""

from collections.abc import Iterator, Mapping

from timpani.errors import UserError
from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import (
    Allocation,
    BatchSystem,
    JobForm,
    hosts_of_file,
    positive_count,
    slots_by_mention,
)

_RANK_FILE, _HOSTS_AND_SLOTS, _HOSTS = "LSB_DJOB_RANKFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS"
_NOTICE_MINUTES = 2  # before the limit


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """From the rank file, else from `LSB_MCPU_HOSTS` (`host slots host slots …`), else from `LSB_HOSTS`, which LSF
    leaves out in large jobs."""
    if "LSB_JOBID" not in environment:
        return None
    if environment.get(_RANK_FILE):
        return hosts_of_file(environment, _RANK_FILE)
    if words := environment.get(_HOSTS_AND_SLOTS, "").split():
        if len(words) % 2:
            raise UserError(f"{_HOSTS_AND_SLOTS} has a host without slots: {words[-1]}", "run inside a job")
        pairs = zip(words[::2], words[1::2], strict=True)
        mentions = [(host, positive_count(slots, _HOSTS_AND_SLOTS)) for host, slots in pairs]
        return slots_by_mention(mentions, _HOSTS_AND_SLOTS)
    return slots_by_mention(((host, 1) for host in environment.get(_HOSTS, "").split()), _HOSTS)


def _directives(job: BatchJob) -> Iterator[str]:
    minutes = -(-job.seconds // 60)
    several = job.jobs > 1
    yield f"-J timpani[1-{job.jobs}]%1" if several else "-J timpani"
    if job.queue:
        yield f"-q {job.queue}"
    if job.account:
        yield f"-P {job.account}"
    yield f"-n {job.nodes * (job.tasks or 1)}"
    yield f'-R "span[ptile={job.tasks}]"'
    if job.constraint:
        yield f'-R "select[{job.constraint}]"'
    yield "-x"
    yield f"-W {minutes // 60}:{minutes % 60:02d}"
    yield "-wa TERM"
    yield f"-wt {_NOTICE_MINUTES}"
    yield f"-o timpani-{'%J_%I' if several else '%J'}.log"


SYSTEM = BatchSystem(
    kind="lsf",
    name="LSF",
    allocation=allocation,
    queue_variables=("LSB_QUEUE",),
    job_variables=("LSB_JOBNAME", "LSB_JOBID"),
    form=JobForm(
        sentinel="#BSUB ",
        directives=_directives,
        submit="bsub <",
        index="LSB_JOBINDEX",
        ending=f"{_NOTICE_MINUTES} minutes before the time limit LSF sends TERM",
        lacks={"qos": "name a queue instead"},
        needs_tasks=True,
    ),
)
