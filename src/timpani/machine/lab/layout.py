"""The parts of a lab and their names, as data: for making it and for recognizing it.

All parts are in separate network namespaces, including the switches. So names inside can be short without conflicts,
and a namespace with the lab's id in its name belongs to the lab, with all processes in it.
"""

import re
import secrets
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from timpani.errors import UserError

_UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}  # tc's units: decimal, bits per second
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)\s*(kbit|mbit|gbit)", re.ASCII | re.IGNORECASE)
_MIN, _MAX = 10**5, 10**11  # below, TCP connections fail; above, Linux can't forward


def parse_rate(text: str) -> int:
    """Bits per second of `text`."""
    match = _RATE.fullmatch(text.strip())
    if not match:
        raise UserError(f"{text!r} is not a rate", "write for example 1gbit, 2.5gbit or 250mbit")
    rate = round(float(match[1]) * _UNITS[match[2].lower()])
    if not _MIN <= rate <= _MAX:
        raise UserError(f"a link of {text} can't be made", f"choose {show_rate(_MIN)} to {show_rate(_MAX)}")
    return rate


def show_rate(rate: int) -> str:
    """The rate in the largest unit with a value of at least 1: `2.5gbit`."""
    unit = max((unit for unit, factor in _UNITS.items() if rate >= factor), key=_UNITS.__getitem__)
    return f"{rate / _UNITS[unit]:.12g}{unit}"


SWITCHES = "switches"
"""The namespace of the bridges; each node has its own."""


@dataclass(frozen=True)
class Node:
    """`group` is the number, from 1, of the node's switch; `address` is within 10.0.0.0/16."""

    name: str
    group: int
    address: str


class Layout(BaseModel):
    """A lab: `nodes` in equal `groups` with a switch each; uplinks connect groups to one more switch.

    cores         of a node, as configured for MPI and Slurm: all nodes really share the machine's cores
    link, uplink  bits per second, in each direction: of each node's link, and of each group's uplink
    last_link     of the last node, if links differ: from node to node the rate changes by the same step
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lab: str = Field(default_factory=lambda: secrets.token_hex(3), pattern=r"[0-9a-f]{6}")
    nodes: int = Field(ge=1, le=250)
    cores: int = Field(ge=1, le=1024)
    groups: int = Field(ge=1)
    link: int = Field(gt=0)
    uplink: int = Field(gt=0)
    last_link: int | None = Field(gt=0, default=None)
    slurm: bool = False

    def link_of(self, index: int) -> int:
        """The rate of the link of a node, which is counted from 0."""
        return self.link + ((self.last_link or self.link) - self.link) * index // max(1, self.nodes - 1)

    @property
    def shown_links(self) -> str:
        """The rates of the nodes' links: `1gbit`, `900mbit:1gbit`."""
        return ":".join(map(show_rate, filter(None, (self.link, self.last_link))))

    @cached_property
    def members(self) -> tuple[Node, ...]:
        """The nodes, n1 first, group after group."""
        numbered = ((1 + index * self.groups // self.nodes, index + 1) for index in range(self.nodes))
        return tuple(Node(f"n{number}", group, f"10.0.{group}.{number}") for group, number in numbered)

    def group(self, number: int) -> tuple[Node, ...]:
        """The nodes of one group."""
        return tuple(node for node in self.members if node.group == number)

    def namespace(self, part: str) -> str:
        """The namespace of a node, or of SWITCHES."""
        return f"{namespace_prefix(self.lab)}{part}"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All its namespaces."""
        return tuple(self.namespace(part) for part in (SWITCHES, *(node.name for node in self.members)))

    @property
    def signature(self) -> str:
        """Equal for labs with comparable measurements: `4x2-1gbit`, `4x2-2groups-1gbit-250mbit`."""
        nodes, link = f"{self.nodes}x{self.cores}", self.shown_links
        return f"{nodes}-{link}" if self.groups == 1 else f"{nodes}-{self.groups}groups-{link}-{show_rate(self.uplink)}"

    @property
    def hosts(self) -> str:
        """The nodes' /etc/hosts."""
        return "127.0.0.1 localhost\n" + "".join(f"{node.address} {node.name}\n" for node in self.members)


def namespace_prefix(lab: str) -> str:
    """The prefix of the names of a lab's namespaces."""
    return f"timpani-{lab}-"
