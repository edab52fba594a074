"""The batch systems: the nodes of a job, and how a job is asked for in a script."""

import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter

from timpani.errors import UserError, unknown
from timpani.machine.batch.batch_system import (
    Allocation,
    BatchJob,
    BatchSystem,
    JobForm,
    Mentions,
    NodeShare,
    command_output,
    in_file,
    in_file_with_slots,
    in_pairs,
    listed,
    slots_by_mention,
)
from timpani.machine.batch.slurm_jobs import SYSTEM as SLURM
from timpani.machine.nodes.model import expand
from timpani.study.words import counted


def _from_variables(*sources: tuple[str, Mentions], job: str = "") -> Callable[[Mapping[str, str]], Allocation | None]:
    """The nodes by the first of these variables that is set; `job`: the variable that every job has."""

    def allocation(environment: Mapping[str, str]) -> Allocation | None:
        found = ((name, mentions) for name, mentions in sources if environment.get(name))
        name, mentions = next(found, (sources[-1][0] if job in environment else "", listed))
        return slots_by_mention(mentions(environment.get(name, ""), name), name) if name else None

    return allocation


GRID_ENGINE = BatchSystem(
    kind="sge",
    name="Grid Engine",
    allocation=_from_variables(("PE_HOSTFILE", in_file_with_slots)),  # host slots queue processors
    queue_variables=("QUEUE",),
)

PALS = BatchSystem(
    kind="pals",
    name="PALS",
    allocation=_from_variables(("PALS_HOSTLIST", listed), ("PALS_HOSTFILE", in_file)),
    queue_variables=("PBS_QUEUE",),
)
"""A job without both variables has PBS's list, which PALS reads, too."""

PBS = BatchSystem(
    kind="pbs",
    name="PBS",
    allocation=_from_variables(("PBS_NODEFILE", in_file)),  # a line for each rank, or with Torque for each core
    queue_variables=("PBS_QUEUE", "PBS_O_QUEUE"),
    job_variables=("PBS_JOBNAME", "PBS_JOBID"),
    form=JobForm(
        sentinel="#PBS ",
        directives=(
            *("-N timpani", "-q {queue}", "-A {account}"),
            "-l select={nodes}:ncpus={tasks}:mpiprocs={tasks}{has}",
            *("-l place=scatter:excl", "-l walltime={clock}", "-J 1-{jobs}%1", "-j oe"),
        ),
        submit="qsub",
        index="PBS_ARRAY_INDEX",
        ending="At the time limit PBS sends TERM, and KILL after its kill_delay",
        elsewhere="-l select=1:host=n3+1:host=n4",
        first=('cd "$PBS_O_WORKDIR"',),
        lacks={"qos": "name a queue instead"},
        needs_tasks=True,
    ),
)

_NOTICE_MINUTES = 2  # before the limit

LSF = BatchSystem(
    kind="lsf",
    name="LSF",
    allocation=_from_variables(
        ("LSB_DJOB_RANKFILE", in_file),
        ("LSB_MCPU_HOSTS", in_pairs),
        ("LSB_HOSTS", listed),  # which LSF leaves out in large jobs
        job="LSB_JOBID",
    ),
    queue_variables=("LSB_QUEUE",),
    job_variables=("LSB_JOBNAME", "LSB_JOBID", "LSB_JOBINDEX"),
    form=JobForm(
        sentinel="#BSUB ",
        directives=(
            *("-J timpani[1-{jobs}]%1", "-J timpani{single}", "-q {queue}", "-P {account}", "-n {ranks}"),
            *('-R "span[ptile={tasks}]"', '-R "select[{constraint}]"', "-x"),
            *("-W {hours_minutes}", "-wa TERM", f"-wt {_NOTICE_MINUTES}"),
            *("-o timpani-%J_%I.log{several}", "-o timpani-%J.log{single}"),
        ),
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


FLUX = BatchSystem(
    kind="flux",
    name="Flux",
    allocation=_flux_allocation,
    queue_variables=(),
    form=JobForm(
        sentinel="#flux: ",
        directives=(
            *("--job-name=timpani", "--queue={queue}", "--bank={account}", "--requires={quoted_constraint}"),
            *("--nodes={nodes}", "--nslots={ranks}", "--time-limit={seconds}s", "--output=timpani-{{{{id}}}}.log"),
            *(f"--signal=TERM@{_NOTICE_SECONDS}s", "--exclusive"),
        ),
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


def _directives(form: JobForm, job: BatchJob) -> Iterator[str]:
    """The lines of `form` all of whose fields `job` has."""
    hours, minutes, seconds = job.seconds // 3600, job.seconds // 60 % 60, job.seconds % 60
    several, rounded_up = job.jobs > 1, -(-job.seconds // 60)
    values = {
        **vars(job),
        "jobs": job.jobs if several else None,
        "several": "" if several else None,
        "single": None if several else "",
        "ranks": job.tasks and job.nodes * job.tasks,
        "clock": f"{hours:02d}:{minutes:02d}:{seconds:02d}",
        "hours_minutes": f"{rounded_up // 60}:{rounded_up % 60:02d}",
        "has": f":{job.constraint}" if job.constraint else "",
        "quoted_constraint": job.constraint and shlex.quote(job.constraint),
    }
    for line in form.directives:
        if all(values[name] is not None for _, name, _, _ in Formatter().parse(line) if name):
            yield line.format(**values)


def job_script(job: BatchJob, command: Sequence[str], launches: int | None = None, notes: Sequence[str] = ()) -> str:
    """The script. Each job of an array measures everything anew, and continues what the ones before it left.

    launches  of each job of an array; None: `command` has them
    notes     for a reader of the script
    """
    form = form_of(job)
    lines = ["#!/bin/bash", *(f"{form.sentinel}{each}" for each in _directives(form, job)), "", *form.first]
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
