"""What every batch system answers in its own way: which nodes a job has, and how a job is asked for."""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from timpani.errors import UserError
from timpani.machine.nodes.node_set import MAX_NODES, expand
from timpani.reading import read_lines


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
