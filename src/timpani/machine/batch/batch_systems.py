"""The batch systems: the nodes of a job, and how a job is asked for in a script."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from timpani.errors import UserError, unknown
from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_system import (
    Allocation,
    BatchSystem,
    JobForm,
    NodeShare,
    command_output,
    hosts_of_file,
    lines_of,
    positive_count,
    slots_by_mention,
)
from timpani.machine.batch.slurm_jobs import SYSTEM as SLURM
from timpani.machine.nodes.node_set import expand
from timpani.study.words import counted

_GRID_ENGINE_NODES = "PE_HOSTFILE"


def _grid_engine_allocation(environment: Mapping[str, str]) -> Allocation | None:
    """From lines of `host slots queue processors`; a host that several queues give slots has all of them."""
    return (
        slots_by_mention(_mentions(environment[_GRID_ENGINE_NODES]), _GRID_ENGINE_NODES)
        if _GRID_ENGINE_NODES in environment
        else None
    )


def _mentions(path: str) -> Iterator[tuple[str, int]]:
    for line in lines_of(path, _GRID_ENGINE_NODES):
        words = line.split()
        if len(words) < 2:
            raise UserError(
                f"{_GRID_ENGINE_NODES}: {line!r} has no slots", f"run inside a job, or unset {_GRID_ENGINE_NODES}"
            )
        yield words[0], positive_count(words[1], _GRID_ENGINE_NODES)


GRID_ENGINE = BatchSystem(
    kind="sge", name="Grid Engine", allocation=_grid_engine_allocation, queue_variables=("QUEUE",)
)


_LIST, _FILE = "PALS_HOSTLIST", "PALS_HOSTFILE"


def _pals_allocation(environment: Mapping[str, str]) -> Allocation | None:
    """From `PALS_HOSTLIST`, names with commas between them, else `PALS_HOSTFILE`, a line for each rank.

    A job without both has PBS's list, which PALS reads, too.
    """
    if environment.get(_LIST):
        return slots_by_mention(((host, 1) for host in _names(environment[_LIST])), _LIST)
    return hosts_of_file(environment, _FILE) if environment.get(_FILE) else None


def _names(text: str) -> list[str]:
    """The names, repeated as often as they are there; `expand` would name each once."""
    return text.split(",") if "[" not in text else list(expand(text))


PALS = BatchSystem(kind="pals", name="PALS", allocation=_pals_allocation, queue_variables=("PBS_QUEUE",))


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


PBS = BatchSystem(
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
        elsewhere="-l select=1:host=n3+1:host=n4",
        first=('cd "$PBS_O_WORKDIR"',),
        lacks={"qos": "name a queue instead"},
        needs_tasks=True,
    ),
)


_RANK_FILE, _HOSTS_AND_SLOTS, _HOSTS = "LSB_DJOB_RANKFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS"
_NOTICE_MINUTES = 2  # before the limit


def _lsf_allocation(environment: Mapping[str, str]) -> Allocation | None:
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


def _lsf_directives(job: BatchJob) -> Iterator[str]:
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


LSF = BatchSystem(
    kind="lsf",
    name="LSF",
    allocation=_lsf_allocation,
    queue_variables=("LSB_QUEUE",),
    job_variables=("LSB_JOBNAME", "LSB_JOBID", "LSB_JOBINDEX"),
    form=JobForm(
        sentinel="#BSUB ",
        directives=_lsf_directives,
        submit="bsub <",
        index="LSB_JOBINDEX",
        ending=f"{_NOTICE_MINUTES} minutes before the time limit LSF sends TERM",
        elsewhere="-R 'select[hname!=n1 && hname!=n2]'",
        lacks={"qos": "name a queue instead"},
        needs_tasks=True,
    ),
)


_JOB, _INSTANCE = "FLUX_JOB_ID", "FLUX_URI"
_NOTICE_SECONDS = 120  # before the limit


def _flux_allocation(environment: Mapping[str, str]) -> Allocation | None:
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


def _flux_directives(job: BatchJob) -> Iterator[str]:
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


FLUX = BatchSystem(
    kind="flux",
    name="Flux",
    allocation=_flux_allocation,
    queue_variables=(),
    form=JobForm(
        sentinel="#flux: ",
        directives=_flux_directives,
        submit="flux batch",
        index="",
        ending=f"{_NOTICE_SECONDS} s before the time limit Flux ends its instance, which sends HUP",
        elsewhere="--requires='not host:n[1-2]'",
        lacks={"qos": "name a queue instead"},
    ),
)


BATCH_SYSTEMS = {each.kind: each for each in (FLUX, PALS, SLURM, PBS, LSF, GRID_ENGINE)}
"""All batch systems. Where one runs inside a job of another, the inner one stands first."""

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
            name, number, *index = (text if text.isprintable() else "" for text in found)
            return {"system": system.name, "name": name, "id": "_".join([number, *(each for each in index if each)])}
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
        raise UserError(
            f"no array of jobs is written for {system.name}", "leave out jobs=, and raise --launches from job to job"
        )
    return form


def job_script(job: BatchJob, command: Sequence[str], launches: int | None = None, notes: Sequence[str] = ()) -> str:
    """The script. Each job of an array measures everything anew, and continues what the ones before it left.

    launches  of each job of an array; None: `command` has them
    notes     for a reader of the script
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
    words = " ".join(map(_quoted, command))
    if job.jobs > 1 and launches is not None:
        words += f' --launches "$(({launches} * {form.index}))"'
        array = (
            f"Each of {job.jobs} jobs adds {counted(launches, 'launch')}. Two may get the same nodes. To choose nodes, "
            f"submit jobs one by one, each with {launches} more --launches; off n1 and n2: {form.elsewhere}"
        )
        notes = [array, *notes]
    for note in (ending, *notes):
        lines += [f"# {each}" for each in textwrap.wrap(note, 110, break_long_words=False, break_on_hyphens=False)]
    return "\n".join([*lines, f"exec {words}", ""])


def _quoted(word: str) -> str:
    """One word of Bash's; what can't be printed is written as its escape: the script is read on terminals."""
    if word.isprintable():
        return shlex.quote(word)
    raw = word.encode(errors="surrogateescape")
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\" else f"\\x{byte:02x}" for byte in raw)
    return f"$'{''.join(plain)}'"
