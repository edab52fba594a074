"""A machine as data: how to start ranks on it, and its nodes in groups. Read from TOML, `docs/machine-files.md`."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from timpani.errors import UserError, unknown, wrong_value
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.node_set import expand, fold
from timpani.reading import read_toml
from timpani.study.counted import counted

LAUNCHERS = (*LIBRARIES, "slurm", "lab")
"""Whose launcher starts the ranks: a library's own, Slurm's srun, or the lab's."""


def _nodes(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if all(isinstance(part, str) and "[" not in part for part in value):
            return expand(",".join(value))  # at once: there may be many
        return tuple(node for part in value for node in _nodes(part))
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
    "name": "a text that can be printed and is not empty",
    "launcher": f"one of {', '.join(LAUNCHERS)}",
    "mpi": f"{', '.join(LIBRARIES)}, or the path of an installation",
    "modules": 'a list of texts, for example ["gcc", "openmpi/5.0"]',
    "groups": "one or more [[groups]], each with name, nodes and cores",
    "platform": "the name of a file",
    "lab": "a lab's id",
    "link_burst": "a whole number of bytes from 1 to 1000000000000",
    "uplink_burst": "a whole number of bytes from 1 to 1000000000000",
    "nodes": 'for example "node[01-08,10]"',
    "cores": "a whole number from 1 to 1000000",
    "sockets": "a whole number from 1 to 1000000",
    "caches": "a whole number from 1 to 1000000",
    "switch": "a text",
}
"""What may be written for each key, as an error tells it."""


class NodeGroup(BaseModel):
    """Nodes behind one switch, all alike.

    nodes    in their order; a text, or each of a list, is a node set
    cores    physical ones of each node, over all its sockets, which have equally many
    caches   last-level ones of each node, over all its sockets, alike; None where nobody knows
    switch   that they hang on, where it isn't called as the group is; "" where nobody knows
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
                f"group {self.name}: {counted(self.cores, 'core')} can't be on {self.sockets} sockets alike",
                "write how many cores a node has over all its sockets, or leave out sockets",
            )
        if self.caches and (self.caches % self.sockets or self.cores % self.caches):
            raise UserError(
                f"group {self.name}: {counted(self.cores, 'core')} on {counted(self.sockets, 'socket')} can't share "
                f"{counted(self.caches, 'last-level cache')} alike",
                "write how many of them a node has over all its sockets, or leave out caches",
            )
        return self


class Machine(BaseModel):
    """Where a study runs. Frozen; every field is checked where it enters.

    mpi       the library: openmpi, mpich, intel, or a path; None: the first found for the launcher
    modules   environment modules that bring it, loaded before it is looked for
    platform  SimGrid's description of a simulated machine
    lab       the id of the lab that it is; None: the only one
    link_burst, uplink_burst  bytes that a node's link, and a group's to the others, lets through at once after a rest:
              where it is a token bucket; None: it isn't
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
                raise UserError(f"{kind} {most!r} is listed twice", "name each once")
        return self

    @property
    def library(self) -> str | None:
        """The MPI library to look for, as `choose_mpi` reads it."""
        return self.mpi or (self.launcher if self.launcher in LIBRARIES else None)

    @property
    def simulated(self) -> bool:
        """Whether its ranks only seem to run on its nodes."""
        return self.launcher in LIBRARIES and LIBRARIES[self.launcher].simulates

    @property
    def own_cores(self) -> bool:
        """Whether each rank gets a core of its own: the lab's nodes share this computer's cores."""
        return self.launcher != "lab" and not self.simulated

    @cached_property
    def switches(self) -> dict[str, str]:
        """The switch of each node whose switch is known."""
        known = ((group, group.name if group.switch is None else group.switch) for group in self.groups)
        return {node: switch for group, switch in known if switch for node in group.nodes}

    def group_of(self, node: str) -> NodeGroup:
        """The group that a node is in; UserError for another machine's."""
        if node not in self._group_by_node:
            raise unknown(f"node of {self.name}", node, self._group_by_node, "timpani hostfile --on FILE")
        return self._group_by_node[node]

    @cached_property
    def _group_by_node(self) -> dict[str, NodeGroup]:
        return {node: group for group in self.groups for node in group.nodes}

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> "Machine":
        """A machine from plain values; UserError names `source` and the key at fault."""
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
    """The machine as TOML, nodes folded into sets; values alone are written that differ from the defaults."""
    lines = [f"{key} = {_toml(value)}" for key, value in _set(machine).items() if key != "groups"]
    for group in machine.groups:
        values = {**_set(group), "nodes": _node_text(group.nodes)}
        lines += ["", "[[groups]]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    return "\n".join([*lines, ""])


def _set(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def _node_text(nodes: tuple[str, ...]) -> str:
    """Folded where that keeps the order."""
    folded = fold(nodes)
    return folded if expand(folded) == nodes else ",".join(nodes)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, int) else _quoted(value)


def _quoted(text: str) -> str:
    """A TOML basic string: quotes, backslashes and what can't be printed are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
