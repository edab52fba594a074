"""Slurm: sbatch's job scripts, and the nodes, cores and switches of a job."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from timpani.errors import UserError
from timpani.machine.batch.batch_system import (
    Allocation,
    BatchJob,
    BatchSystem,
    ClusterTables,
    JobForm,
    NodeShape,
    NodeShare,
    command_output,
)
from timpani.machine.lab.lab import LAB_VARIABLE, labs
from timpani.machine.nodes.locality import groups_of_equal_nodes
from timpani.machine.nodes.model import MAX_NODES, expand, fold

SINFO_FORMAT = "%N %X %Y %Z"
"""For `sinfo --noheader --Node --format`: node, sockets, cores per socket, threads per core."""

_MAX_NAME_LENGTH = 1000
_KEY_VALUE = re.compile(r"(\w+)=(\S+)")
_NODE = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) +([1-9]\d{0,5}) +([1-9]\d{0,5}) +([1-9]\d{0,5})", re.ASCII)
_REPEATED = re.compile(r"(?<!\d)(\d{1,6})(?:\(x(\d{1,6})\))?(?!\d)", re.ASCII)


def parse_topology(text: str) -> dict[str, tuple[str, ...]]:
    """The nodes behind each lowest switch (or in each block), by its name.

    `text` is topology.conf or the output of `scontrol show topology`; both have one switch per line. A switch above
    other switches only repeats their nodes.
    """
    leaves: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        values = dict(_KEY_VALUE.findall(line.partition("#")[0]))
        name = values.get("SwitchName") or values.get("BlockName")
        if (
            name
            and name.isprintable()
            and len(name) < _MAX_NAME_LENGTH
            and "Nodes" in values
            and "Switches" not in values
        ):
            leaves[name] = expand(values["Nodes"])
            if sum(map(len, leaves.values())) > MAX_NODES:
                raise UserError(f"the topology has more than {MAX_NODES} nodes", "describe them in a machine file")
    return leaves


def parse_sinfo(text: str) -> dict[str, NodeShape]:
    """The shape of each node, from lines of `SINFO_FORMAT`; a node in two partitions has two."""
    nodes = {}
    for line in text.splitlines():
        match = _NODE.fullmatch(line.strip())
        if not match:  # for example "n/a" of a node that never registered
            continue
        name, sockets, per_socket, threads = match.groups()
        # If slurm.conf gives only a number of CPUs, Slurm counts each of them as a socket.
        known = int(sockets) if int(per_socket) > 1 else 1
        nodes[name] = NodeShape(int(sockets) * int(per_socket), known, int(threads))
    return nodes


def parse_counts(text: str) -> tuple[int, ...]:
    """`48(x2),24` → 48, 48, 24: Slurm's notation of a number for each node."""
    counts = (int(count) for count, times in _REPEATED.findall(text) for _ in range(int(times or 1)))
    return tuple(islice(counts, MAX_NODES))


def groups_of(nodes: Mapping[str, NodeShape], switches: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """The values of a machine's groups: nodes by switch; one group of them all where no switch is known."""
    behind = {node: switch for switch, names in switches.items() for node in names}
    facts = {node: (behind.get(node, ""), shape.cores, shape.sockets) for node, shape in nodes.items()}
    return groups_of_equal_nodes(facts)


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
    return ClusterTables(parse_sinfo(table), switches())


def switches() -> dict[str, tuple[str, ...]]:
    """The nodes behind each lowest switch, as far as Slurm knows them."""
    topology = command_output("scontrol", "show", "topology") or (_TOPOLOGY.read_text() if _TOPOLOGY.is_file() else "")
    return parse_topology(topology)


def _tables_of_nodes(nodes: Sequence[str]) -> ClusterTables:
    return _tables(f"--nodes={fold(nodes)}")


_STATES = "idle,allocated,mixed,completing"
"""Of nodes that run jobs, now or after others."""


_MAY_SHARE = ", which may share nodes with earlier jobs: the partition has too few others"


def placements(job: BatchJob, earlier: Sequence[Collection[str]]) -> Iterator[tuple[BatchJob, str]]:
    """`job` without nodes of the `earlier` ones, and where it then runs, in words; the last one takes any nodes."""
    if earlier:
        listed = command_output("sinfo", "--noheader", "--Node", f"--states={_STATES}", "--format=%P %N")
        rows = [line.split() for line in listed.splitlines()]
        partition = {row[1] for row in rows if (row[0].rstrip("*") == job.queue if job.queue else row[0].endswith("*"))}
        earlier = [here for nodes in earlier if (here := partition.intersection(nodes))]
        for excluded in exclusions(job.nodes, partition, switches(), earlier):
            left_out = fold(sorted(excluded))
            others = (partition - excluded).isdisjoint(chain(*earlier))
            yield replace(job, excluded=left_out), f", not on {left_out}" if others else _MAY_SHARE
    yield job, _MAY_SHARE if earlier else ""


def exclusions(
    count: int,
    partition: Collection[str],
    switches: Mapping[str, Collection[str]],
    earlier: Sequence[Collection[str]],
) -> Iterator[frozenset[str]]:
    """What a job of `count` nodes may leave out to run elsewhere than `earlier` ones, the best first.

    That is all nodes behind their switches; their nodes; one node of each job, so that no two jobs have the same nodes;
    as far as enough of the `partition` is left.
    """
    used = Counter(node for nodes in earlier for node in nodes)
    behind = {node for names in switches.values() if used.keys() & names for node in names}
    one_of_each: set[str] = set()
    for nodes in earlier:
        if nodes and one_of_each.isdisjoint(nodes):
            one_of_each.add(max(sorted(nodes), key=used.__getitem__))
    for left_out in (used.keys() | behind, used.keys(), one_of_each):
        excluded = frozenset(left_out & set(partition))
        if excluded and len(partition) - len(excluded) >= count:
            yield excluded


SYSTEM = BatchSystem(
    kind="slurm",
    name="Slurm",
    allocation=allocation,
    queue_variables=("SLURM_JOB_PARTITION", "SLURM_CLUSTER_NAME"),
    job_variables=("SLURM_JOB_NAME", "SLURM_JOB_ID"),
    tables=_tables_of_nodes,
    form=JobForm(
        sentinel="#SBATCH ",
        directives=(
            *("--job-name=timpani", "--partition={queue}", "--account={account}", "--qos={qos}"),
            *("--constraint={constraint}", "--nodes={nodes}", "--ntasks-per-node={tasks}", "--time={clock}"),
            *("--exclude={excluded}", "--output=timpani-%j.log", f"--signal=B:TERM@{_NOTICE_SECONDS}", "--exclusive"),
        ),
        submit="sbatch",
        index="",
        ending=f"{_NOTICE_SECONDS} s before the time limit Slurm sends TERM, and `exec` lets it reach Timpani",
        elsewhere="--exclude=n[1-2]",
    ),
)


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
    """How a job ended. `state` is empty where Slurm has forgotten the job; `seen` is whether its log is in the current
    folder."""

    state: str
    seen: bool


class RefusedJobError(UserError):
    """Slurm takes no such job."""


@dataclass(frozen=True)
class Submitted:
    """A job by its number, and its log. Slurm may count from 1 again, so the log's name also has the time."""

    number: str
    log: Path


def submit(script: str) -> Submitted:
    """The job that `script` became; UserError where Slurm isn't reached from here, or refuses it."""
    log = f"timpani-%j-{time.strftime('%Y%m%d-%H%M%S')}.log"
    done = _slurm("sbatch", "--parsable", f"--output={log}", text=script)
    if done.returncode:
        said = " ".join(done.stderr.split())
        if any(each in said for each in _UNREACHABLE):
            last = done.stderr.strip().splitlines()[-1]
            raise UserError(f"Slurm can't be reached from here ({last})", _reach_slurm())
        raise RefusedJobError(
            f"sbatch refused the job: {said or 'nothing'}", "`timpani script` prints it; `sinfo` shows partitions"
        )
    number = done.stdout.strip().partition(";")[0]
    return Submitted(number, Path(log.replace("%j", number)))


def _reach_slurm() -> str:
    """What to do where Slurm's commands don't work."""
    step = "Slurm's commands work from its login and compute nodes only"
    with_slurm = [lab.id for lab in labs() if lab.whole and lab.layout and lab.layout.slurm]
    if LAB_VARIABLE in os.environ or not with_slurm:
        return f"{step}: run this there"
    return f"{step}: for lab {with_slurm[0]}, `timpani lab exec --lab {with_slurm[0]} n1 -- timpani …`"


def follow_job(job: Submitted) -> JobEnd:
    """Copy the log of a job to stderr until it has ended."""
    read = 0
    while True:
        listed = _slurm("squeue", "--noheader", f"--jobs={job.number}", "--format=%T")
        read = _copy_log(job.log, read)
        if (listed.returncode == 0 and not listed.stdout.strip()) or _FORGOTTEN in listed.stderr:
            break
        time.sleep(_POLL_SECONDS)
    shown = _slurm("scontrol", "--oneliner", "show", "job", job.number).stdout.split()  # remembered for some minutes
    state = next((word.partition("=")[2] for word in shown if word.startswith("JobState=")), "")
    for _ in range(round(_LOG_SECONDS / _POLL_SECONDS)):
        if job.log.exists() or state == "CANCELLED":  # before it started, say
            break
        time.sleep(_POLL_SECONDS)
    _copy_log(job.log, read)
    return JobEnd(state, job.log.exists())


def _copy_log(log: Path, read: int) -> int:
    """Copy what is new after the position `read`; returns the new one."""
    if not log.exists():
        return read
    with log.open("rb") as file:
        file.seek(read)
        sys.stderr.write(file.read().decode(errors="replace"))
        sys.stderr.flush()
        return file.tell()


def _slurm(program: str, *arguments: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
    path = shutil.which(program)
    if path is None:
        raise UserError(f"there is no {program} here", _reach_slurm())
    return subprocess.run([path, *arguments], input=text, capture_output=True, text=True, check=False)
