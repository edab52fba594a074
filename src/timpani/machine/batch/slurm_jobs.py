"""Slurm: sbatch's job scripts, and the nodes, cores and switches of a job."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import (
    Allocation,
    BatchSystem,
    ClusterTables,
    JobForm,
    NodeShare,
    command_output,
)
from timpani.machine.batch.slurm_tables import SINFO_FORMAT, parse_counts, parse_sinfo, parse_topology
from timpani.machine.nodes.node_set import expand, fold

_NODES = "SLURM_JOB_NODELIST"
_TOPOLOGY = Path("/etc/slurm/topology.conf")
_NOTICE_SECONDS = 120  # before the limit: a launch is ended and its results are written in a few


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """A job that asked for tasks has as many slots on a node as tasks, and mpirun starts no more there."""
    if _NODES not in environment:
        return None
    cpus = parse_counts(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))
    tasks = parse_counts(environment.get("SLURM_TASKS_PER_NODE", "")) if "SLURM_NTASKS" in environment else ()
    names = expand(environment[_NODES])
    shares = zip_longest(names, cpus[: len(names)], tasks[: len(names)])
    return {name: NodeShare(cpu, slots) for name, cpu, slots in shares}


def nodes_of_partition(partition: str) -> ClusterTables:
    """The nodes of a partition, seen from a login node; none where Slurm knows no such partition."""
    return _tables(f"--partition={partition}")


def _tables(which: str) -> ClusterTables:
    table = command_output("sinfo", "--noheader", "--Node", which, f"--format={SINFO_FORMAT}")
    topology = command_output("scontrol", "show", "topology") or (_TOPOLOGY.read_text() if _TOPOLOGY.is_file() else "")
    return ClusterTables(parse_sinfo(table), parse_topology(topology))


def _tables_of_nodes(nodes: Sequence[str]) -> ClusterTables:
    return _tables(f"--nodes={fold(nodes)}")


def _directives(job: BatchJob) -> Iterator[str]:
    clock = f"{job.seconds // 3600:02d}:{job.seconds // 60 % 60:02d}:{job.seconds % 60:02d}"
    asked = {
        "job-name": "timpani",
        "partition": job.queue,
        "account": job.account,
        "qos": job.qos,
        "constraint": job.constraint,
        "nodes": job.nodes,
        "ntasks-per-node": job.tasks,
        "time": clock,
        "output": "timpani-%A_%a.log" if job.jobs > 1 else "timpani-%j.log",
        "signal": f"B:TERM@{_NOTICE_SECONDS}",
        "array": f"1-{job.jobs}%1" if job.jobs > 1 else None,
    }
    yield from (f"--{key}={value}" for key, value in asked.items() if value is not None)
    yield "--exclusive"


SYSTEM = BatchSystem(
    kind="slurm",
    name="Slurm",
    allocation=allocation,
    queue_variables=("SLURM_JOB_PARTITION", "SLURM_CLUSTER_NAME"),
    job_variables=("SLURM_JOB_NAME", "SLURM_JOB_ID"),
    tables=_tables_of_nodes,
    form=JobForm(
        sentinel="#SBATCH ",
        directives=_directives,
        submit="sbatch",
        index="SLURM_ARRAY_TASK_ID",
        ending=f"{_NOTICE_SECONDS} s before the time limit Slurm sends TERM, and `exec` lets it reach Timpani",
    ),
)
