"""A machine as data: its launcher, and its nodes in groups. Read from TOML (`docs/machine-files.md`).

Sets of node names stand in brackets, as Slurm and pdsh write them: `node[01-08,10]`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.RangeSet import RangeSet
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from timpani.errors import UserError, unknown, wrong_value
from timpani.libraries.registry import LIBRARIES
from timpani.reading import read_toml
from timpani.study.words import counted

# Only host names and addresses, so that a name can't be an option, a path or a second word in a launcher's command line
# or a job script.
_NUMBERS = r"\d{1,18}(?:-\d{1,18})?"
_SET = re.compile(rf"[A-Za-z0-9](?:[A-Za-z0-9._-]|\[{_NUMBERS}(?:,{_NUMBERS})*\])*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_PIECE = re.compile(r"\[([^]]*)\]|([^[]+)")
_BETWEEN_COMMAS = re.compile(r"(?:[^\[,]|\[[^\]]*\]?)+")
MAX_NODES = 100_000
_MAX_TEXT_LENGTH = 2_000_000
_MAX_NAME_LENGTH = 253  # limit of DNS


def expand(text: str) -> tuple[str, ...]:
    """Each name once, in the text's order; UserError for an invalid node set."""
    if len(text) > _MAX_TEXT_LENGTH:
        raise UserError(f"{text[:40]!r}… is {len(text)} characters long", "write ranges: node[01-08,10]")
    parts = [part.strip() for part in _BETWEEN_COMMAS.findall(text)]
    if len(parts) > MAX_NODES:
        raise UserError(f"{text[:40]!r}… names {len(parts)} nodes", f"use at most {MAX_NODES}")
    nodes: dict[str, None] = {}
    for part in filter(None, parts):
        if "[" not in part and _SET.fullmatch(part):
            nodes[part] = None
            continue
        if not _SET.fullmatch(part):
            raise UserError(f"{part!r} is not a node set", "write for example node[01-08,10]")
        pieces = [_spans(brackets, part) if brackets else [(plain, plain)] for brackets, plain in _PIECE.findall(part)]
        count = prod(sum(_length(*span) for span in piece) for piece in pieces)
        if count + len(nodes) > MAX_NODES:
            raise UserError(f"{part!r} names {count} nodes", f"use at most {MAX_NODES} in all")
        names = map("".join, product(*([name for span in piece for name in _names(*span)] for piece in pieces)))
        nodes.update(dict.fromkeys(names))
    if any(len(name) > _MAX_NAME_LENGTH for name in nodes):
        raise UserError(f"{max(nodes, key=len)!r} is too long for a host", f"use at most {_MAX_NAME_LENGTH} characters")
    return tuple(nodes)


def _spans(brackets: str, part: str) -> list[tuple[str, str]]:
    """First and last number of each span, as written."""
    spans = [(first, last or first) for first, _, last in (span.partition("-") for span in brackets.split(","))]
    if any(int(last) < int(first) for first, last in spans):
        raise UserError(f"{part!r} is not a node set (a range is descending)", "write for example node[01-08,10]")
    return spans


def _length(first: str, last: str) -> int:
    return 1 if first == last else int(last) - int(first) + 1


def _names(first: str, last: str) -> list[str]:
    """The numbers from `first` to `last`, padded like `first`; plain text stays."""
    if first == last:
        return [first]
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def fold_numbers(numbers: Iterable[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8."""
    return str(RangeSet(",".join(map(str, numbers)) or None))


def fold(names: Iterable[str]) -> str:
    """The shortest text for a set of names; their order is lost. Names that can't be in a node set are kept, as are
    names that look like sets, such as `n[0-9999999999]`: nothing is expanded here.
    """
    each = list(names)
    if not all(map(_NAME.fullmatch, each)):
        return ",".join(each)
    try:
        return str(NodeSet.fromlist(each, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, ValueError):  # or a number with thousands of digits
        return ",".join(each)


_SPAN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MAX_SPANS = 10_000
_MAX_CPUS = 1_000_000  # of all spans together, whether they overlap or not


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `fold_numbers`; ValueError for invalid text."""
    cpus: set[int] = set()
    count = 0
    spans = list(filter(None, text.split(",")))
    if len(spans) > _MAX_SPANS:
        raise ValueError(f"{len(spans)} spans of CPUs")
    for span in spans:
        match = _SPAN.fullmatch(span)
        if not match:
            raise ValueError(f"{span[:40]!r} is not a range of CPUs")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
        count += len(numbers)
        if count > _MAX_CPUS:
            raise ValueError(f"more than {_MAX_CPUS} CPUs")
        cpus.update(numbers)
    return frozenset(cpus)


LAUNCHERS = (*LIBRARIES, "slurm", "lab")
"""Launchers: a library's, Slurm's srun, or the lab's."""


def _nodes(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if all(isinstance(part, str) and "[" not in part for part in value):
            return expand(",".join(value))  # in one call, as there may be many
        nodes: list[str] = []
        for part in value:
            nodes += _nodes(part)
            if len(nodes) > MAX_NODES:
                raise UserError(f"more than {MAX_NODES} nodes", "describe fewer nodes")
        return tuple(nodes)
    if not isinstance(value, str):
        raise UserError("nodes must be text", 'write for example "node[01-08,10]"')
    return expand(value)


_Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
_Bytes = Annotated[int, Field(strict=True, ge=1, le=10**12)]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it can't be printed")
    return text


def _launcher(text: str) -> str:
    if text not in LAUNCHERS:
        raise ValueError("no launcher")
    return text


_Name = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)]


_EXPECTED = {
    "name": "printable text that is not empty",
    "launcher": f"one of {', '.join(LAUNCHERS)}",
    "mpi": f"{', '.join(LIBRARIES)}, or the path of an installation",
    "modules": 'a list of text, for example ["gcc", "openmpi/5.0"]',
    "groups": "one or more [[groups]], each with name, nodes and cores",
    "platform": "the name of a file",
    "lab": "a lab's id",
    **dict.fromkeys(("link_burst", "uplink_burst"), "a whole number of bytes from 1 to 1000000000000"),
    "nodes": 'for example "node[01-08,10]"',
    **dict.fromkeys(("cores", "sockets", "caches"), "a whole number from 1 to 1000000"),
    "switch": "a text",
}
"""The valid values of each key, for error messages."""


class NodeGroup(BaseModel):
    """Equal nodes behind one switch.

    nodes    in order; each text is a node set
    cores    physical cores of a node, over all its sockets, which have equally many
    caches   last-level caches of a node, over all its sockets, each shared by equally many cores; None if unknown
    switch   the switch, if it isn't named like the group; "" if unknown
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Name
    nodes: Annotated[tuple[str, ...], BeforeValidator(_nodes), Field(min_length=1)]
    cores: _Count
    sockets: _Count = 1
    caches: _Count | None = None
    switch: str | None = None

    @model_validator(mode="after")
    def _equal_sockets(self) -> "NodeGroup":
        if self.cores % self.sockets:
            raise UserError(
                f"group {self.name}: {counted(self.cores, 'core')} can't be divided equally among {self.sockets} "
                "sockets",
                "give the cores of a node over all its sockets, or omit sockets",
            )
        if self.caches and (self.caches % self.sockets or self.cores % self.caches):
            raise UserError(
                f"group {self.name}: {counted(self.cores, 'core')} on {counted(self.sockets, 'socket')} can't "
                "be divided equally among "
                f"{counted(self.caches, 'last-level cache')}",
                "give the caches of a node over all its sockets, or omit caches",
            )
        return self


class Machine(BaseModel):
    """Where a study runs.

    mpi       the library: openmpi, mpich, intel, or a path; None: the first one found for the launcher
    modules   environment modules to load before looking for the library
    platform  SimGrid's description of a simulated machine
    lab       the id of the lab; None: the only one
    link_burst, uplink_burst  bytes that a node's link, and a group's uplink, pass at once after idle time, if it is a
                              token bucket; None: it isn't
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Name
    launcher: Annotated[str, AfterValidator(_launcher)]
    mpi: str | None = None
    modules: tuple[str, ...] = ()
    groups: Annotated[tuple[NodeGroup, ...], Field(min_length=1)]
    platform: str | None = None
    lab: str | None = None
    link_burst: _Bytes | None = None
    uplink_burst: _Bytes | None = None

    @model_validator(mode="after")
    def _each_once(self) -> "Machine":
        for kind, names in (
            ("group", [group.name for group in self.groups]),
            ("node", [node for group in self.groups for node in group.nodes]),
        ):
            [(most, count)] = Counter(names).most_common(1)
            if count > 1:
                raise UserError(f"{kind} {most!r} is listed twice", "list each once")
        return self

    @property
    def library(self) -> str | None:
        """The MPI library, as `choose_mpi` reads it."""
        return self.mpi or (self.launcher if self.launcher in LIBRARIES else None)

    @property
    def simulated(self) -> bool:
        """Whether its ranks are simulated."""
        return self.launcher in LIBRARIES and LIBRARIES[self.launcher].launcher.simulates

    @property
    def own_cores(self) -> bool:
        """Whether each rank gets its own core: nodes of a lab share this computer's cores."""
        return self.launcher != "lab" and not self.simulated

    @cached_property
    def switches(self) -> dict[str, str]:
        """The switch of each node whose switch is known."""
        known = ((group, group.name if group.switch is None else group.switch) for group in self.groups)
        return {node: switch for group, switch in known if switch for node in group.nodes}

    def group_of(self, node: str) -> NodeGroup:
        """The group of a node; UserError if the machine doesn't have the node."""
        if node not in self._group_by_node:
            raise unknown(f"node of {self.name}", node, self._group_by_node, "timpani hostfile --on FILE")
        return self._group_by_node[node]

    @cached_property
    def _group_by_node(self) -> dict[str, NodeGroup]:
        return {node: group for group in self.groups for node in group.nodes}

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> "Machine":
        """A machine from plain values; UserError with `source` and the invalid key."""
        try:
            return cls.model_validate(values)
        except UserError as error:
            raise UserError(f"{source}: {error.what}", error.next_step) from None
        except ValidationError as error:
            first = error.errors()[0]
            *above, key = first["loc"] or ("",)
            where = ".".join(str(part) for part in first["loc"])
            if first["type"] == "extra_forbidden":
                fields = (NodeGroup if above else cls).model_fields
                raise unknown(f"key in {source}: {where},", str(key), fields, "docs/machine-files.md") from None
            raise wrong_value(source, dict(first), _EXPECTED, "docs/machine-files.md") from None


def read_machine(path: Path) -> Machine:
    """The machine in a TOML file."""
    try:
        values = read_toml(path)
    except FileNotFoundError:
        raise UserError(f"machine file not found: {path}", "`timpani machine detect` writes one") from None
    return Machine.check(values, str(path))


def write_machine(machine: Machine) -> str:
    """The machine as TOML, with nodes folded into sets, and without default values."""
    lines = [f"{key} = {_toml(value)}" for key, value in _set(machine).items() if key != "groups"]
    for group in machine.groups:
        values = {**_set(group), "nodes": _node_text(group.nodes)}
        lines += ["", "[[groups]]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    return "\n".join([*lines, ""])


def _set(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def _node_text(nodes: tuple[str, ...]) -> str:
    """The nodes as text, folded if that keeps the order."""
    folded = fold(nodes)
    return folded if expand(folded) == nodes else ",".join(nodes)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, int) else _quoted(value)


def _quoted(text: str) -> str:
    """A TOML basic string: quotes, backslashes and unprintable characters are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
