"""What is asked of a batch system in one text, `slurm:THIN,nodes=2,time=2:00:00`, and what each answers in its own way:
which nodes a job has, and how a job is asked for."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from timpani.errors import UserError, unknown
from timpani.machine.nodes.model import MAX_NODES, expand
from timpani.reading import read_lines

_DESCRIBED = "docs/machine-files.md has examples"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_TIME = re.compile(r"(?:(?P<days>\d{1,3})-)?(?P<fields>\d{1,5}(?::\d{2}){0,2})", re.ASCII)
_MODULES = re.compile(r"[\w.+/-]+", re.ASCII)
_CONSTRAINT = re.compile(r"[\w.+&|*()\[\]:=-]+", re.ASCII)
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


@dataclass(frozen=True)
class BatchJob:
    """What is asked of a batch system. Whole nodes are always asked for: neighbors are in every figure.

    system      the word for the batch system
    queue       its queue or partition; None: the default one
    tasks       ranks a node takes; None: as many as it has CPUs
    seconds     the time limit
    jobs        how many jobs measure everything, one after another
    modules     loaded before it starts
    account     that is charged; None: the user's own
    constraint  what nodes must have, in the batch system's syntax
    excluded    nodes that it must not get, as a node set
    """

    system: str
    queue: str | None = None
    nodes: int = 2
    tasks: int | None = None
    seconds: int = _HOUR
    jobs: int = 1
    modules: tuple[str, ...] = ()
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    excluded: str | None = None

    @classmethod
    def parse(cls, text: str) -> "BatchJob":
        """Read `SYSTEM[:QUEUE][,KEY=VALUE]…`; UserError for unknown keys and for values that no key takes."""
        place, *settings = text.split(",")
        system, colon, queue = place.partition(":")
        if colon and not _NAME.fullmatch(queue):
            raise UserError(
                f"{queue!r} is not a partition or a queue", f"write {system}:NAME, as the batch system lists it"
            )
        job = cls(system, queue or None)
        for setting in settings:
            key, _, value = setting.partition("=")
            if key not in _SETTINGS:
                raise unknown("setting of a job", key, _SETTINGS, "timpani script --help")
            pattern, field, read = _SETTINGS[key]
            if not pattern.fullmatch(value):
                raise UserError(f"{value!r} can't be a job's {key}", _DESCRIBED)
            job = replace(job, **{field: read(value)})
        return job


def _seconds(text: str) -> int:
    """Seconds of a limit as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:…]."""
    match = _TIME.fullmatch(text)
    assert match, "the setting's pattern is checked before"
    fields = [int(each) for each in match["fields"].split(":")]
    if match["days"] is not None:
        units: tuple[int, ...] = (_HOUR, _MINUTE, 1)
    else:
        units = (_HOUR, _MINUTE, 1) if len(fields) == 3 else (_MINUTE, 1)
    seconds = int(match["days"] or 0) * _DAY + sum(
        count * unit for count, unit in zip(fields, units[: len(fields)], strict=True)
    )
    if seconds == 0:
        raise UserError(f"{text!r} can't be a job's time", _DESCRIBED)
    return seconds


_SETTINGS: dict[str, tuple[re.Pattern[str], str, Callable[[str], Any]]] = {
    "nodes": (_COUNT, "nodes", int),
    "tasks": (_COUNT, "tasks", int),
    "jobs": (_COUNT, "jobs", int),
    "time": (_TIME, "seconds", _seconds),
    "modules": (_MODULES, "modules", lambda text: tuple(text.split("+"))),
    "account": (_NAME, "account", str),
    "qos": (_NAME, "qos", str),
    "constraint": (_CONSTRAINT, "constraint", str),
}


def loaded_modules(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The modules of this shell, as both implementations of `module` list them."""
    return tuple(name for name in environment.get("LOADEDMODULES", "").split(":") if name)


class NodeShape(NamedTuple):
    """Of a node: physical cores, the sockets that they are on, and hardware threads of each."""

    cores: int
    sockets: int
    threads: int


class NodeShare(NamedTuple):
    """What a job has of a node: hardware threads, and slots for ranks; None: unknown, and so the whole node."""

    cpus: int | None = None
    slots: int | None = None


Allocation = Mapping[str, NodeShare]
"""The nodes of a job, in the batch system's order."""


class ClusterTables(NamedTuple):
    """What a batch system knows of nodes, by name, and the nodes behind each lowest switch, by its name."""

    shapes: Mapping[str, NodeShape]
    switches: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class JobForm:
    """How a job is asked for in a script.

    sentinel     how each line for the batch system begins
    directives   those lines, without the sentinel: with fields of `_directives` in `batch_systems.py`
    submit       the command that takes the script
    index        the variable that holds a job's number in an array, from 1; "": arrays are not used
    ending       how a job ends at its time limit, for a reader of the script
    elsewhere    what keeps a job off the nodes n1 and n2, for the same reader
    first        commands before all others
    lacks        settings that the system has no word for, and what to do instead
    needs_tasks  whether the ranks that a node takes must be named
    """

    sentinel: str
    directives: tuple[str, ...]
    submit: str
    index: str
    ending: str
    elsewhere: str
    first: tuple[str, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    needs_tasks: bool = False


@dataclass(frozen=True)
class BatchSystem:
    """One batch system. Whoever needs to know something of one asks here.

    kind, name       the word for it that users type, and its name
    allocation       the nodes of the job that has the variables given; None: it is no job of this system
    queue_variables  variables that hold the job's queue; the first that is set names the machine
    job_variables    variables that hold the job's name, its number and, if the number is that of a whole array, its
                     place in the array; empty: it has none
    tables           what its commands print of some nodes
    form             how a job is asked for; None: Timpani writes no script for it
    """

    kind: str
    name: str
    allocation: Callable[[Mapping[str, str]], Allocation | None]
    queue_variables: tuple[str, ...]
    job_variables: tuple[str, ...] = ()
    tables: Callable[[Sequence[str]], ClusterTables] = lambda nodes: ClusterTables({}, {})
    form: JobForm | None = None


def slots_by_mention(names: Iterable[tuple[str, int]], source: str) -> Allocation:
    """The hosts of `source`, in the order of their first mention; the slots of a host that is repeated add up.

    UserError where a name can't be a host's, or where there is no host.
    """
    slots: dict[str, int] = {}
    for name, count in names:
        for host in expand(name):
            slots[host] = slots.get(host, 0) + count
        if len(slots) > MAX_NODES:
            raise UserError(f"{source} names more than {MAX_NODES} hosts", "run in a job of fewer nodes")
    if not slots:
        raise UserError(f"{source} names no host", "run inside a job, or unset that variable")
    return {host: NodeShare(slots=count) for host, count in slots.items()}


Mentions = Callable[[str, str], Iterable[tuple[str, int]]]
"""Hosts with slots, from the text of a variable and its name; of one host perhaps several times."""


def listed(text: str, variable: str) -> Iterator[tuple[str, int]]:
    """Names with commas or spaces between them, repeated as often as they have slots."""
    return ((host, 1) for host in ([text] if "[" in text else text.replace(",", " ").split()))


def in_pairs(text: str, variable: str) -> Iterator[tuple[str, int]]:
    """`host slots host slots …`."""
    words = text.split()
    if len(words) % 2:
        raise UserError(f"{variable} has a host without slots: {words[-1]}", "run inside a job")
    return ((host, _slots(slots, variable)) for host, slots in zip(words[::2], words[1::2], strict=True))


def in_file(text: str, variable: str) -> Iterator[tuple[str, int]]:
    """A file with a line for each slot, the host its first word."""
    return ((line.split()[0], 1) for line in _lines(text, variable))


def in_file_with_slots(text: str, variable: str) -> Iterator[tuple[str, int]]:
    """A file of lines `host slots …`; a host that several queues give slots has all of them."""
    for line in _lines(text, variable):
        words = line.split()
        if len(words) < 2:
            raise UserError(f"{variable}: {line!r} has no slots", f"run inside a job, or unset {variable}")
        yield words[0], _slots(words[1], variable)


def _lines(path: str, variable: str) -> list[str]:
    step = f"run where the job's files are, or unset {variable}"
    return [line for line in read_lines(Path(path), f"{variable}'s file", step) if line.strip()]


def _slots(text: str, source: str) -> int:
    """A number of slots; UserError names the `source` of another text."""
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:7]) <= 1_000_000):
        raise UserError(f"{source}: {text!r} is no number of slots", "run inside a job, or unset that variable")
    return int(text)


_ANSWER_SECONDS = 30


def command_output(program: str, *arguments: str) -> str:
    """What `program` prints; nothing where it is missing, fails or takes too long."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
