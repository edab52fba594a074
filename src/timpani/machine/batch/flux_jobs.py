"""Flux: the scripts of `flux batch`, and the nodes of a job or of the instance that it is."""

import shlex
from collections.abc import Iterator, Mapping

from timpani.errors import UserError
from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import Allocation, BatchSystem, JobForm, NodeShare, command_output
from timpani.machine.nodes.node_set import expand

_JOB, _INSTANCE = "FLUX_JOB_ID", "FLUX_URI"
_NOTICE_SECONDS = 120  # before the limit


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """Flux names no nodes in the environment: `flux hostlist` does, and before 0.59 the instance's attribute.

    How many ranks a node takes is unknown: a batch job has whole nodes.
    """
    if not {_JOB, _INSTANCE} & environment.keys():
        return None
    listed = command_output("flux", "hostlist", "local")
    if not listed and _JOB not in environment:  # else the instance may have more nodes than the job
        listed = command_output("flux", "getattr", "hostlist")
    if not listed.strip():
        raise UserError("this is a Flux job, and `flux hostlist local` lists no nodes", "run inside `flux batch`")
    return dict.fromkeys(expand(listed.strip()), NodeShare())


def _directives(job: BatchJob) -> Iterator[str]:
    asked = {
        "job-name": "timpani",
        "queue": job.queue,
        "bank": job.account,
        "requires": job.constraint and shlex.quote(job.constraint),
        "nodes": job.nodes,
        "nslots": job.nodes * job.tasks if job.tasks else None,
        "time-limit": f"{job.seconds}s",
        "output": "timpani-{{id}}.log",
        "signal": f"TERM@{_NOTICE_SECONDS}s",
    }
    yield from (f"--{key}={value}" for key, value in asked.items() if value is not None)
    yield "--exclusive"


SYSTEM = BatchSystem(
    kind="flux",
    name="Flux",
    allocation=allocation,
    queue_variables=(),
    form=JobForm(
        sentinel="#flux: ",
        directives=_directives,
        submit="flux batch",
        index="",
        ending=f"{_NOTICE_SECONDS} s before the time limit Flux ends its instance, which sends HUP",
        lacks={"qos": "name a queue instead"},
    ),
)
