"""The labs of this machine, and how to run a command on one of their nodes.

A lab's folder is made first, and `lab.json` in it last: a folder without that file was left by a killed `up` or `down`.
All names contain the lab's id, so leftovers are found by it. All parts are in separate network namespaces, including
the switches, so names inside can be short, and all processes in a lab's namespaces are the lab's.
"""

import json
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timpani.errors import UserError, unknown

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


ADMINISTRATION = ("/usr/sbin", "/sbin")
"""Folders of tc, slurmctld and similar programs; a user's PATH, and so sudo's, may lack them."""

_ALWAYS = {"iproute2": ("ip", "tc"), "util-linux": ("nsenter", "unshare"), "hostname": ("hostname",)}
_SLURM = {"munge": ("munged",), "slurm-wlm": ("slurmctld", "slurmd", "sbatch", "sinfo")}


def search_path() -> str:
    """PATH, followed by the folders of administration programs."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *ADMINISTRATION))


def search_environment() -> dict[str, str]:
    """The environment with `search_path` as PATH, for all programs that make, watch or remove a lab."""
    return {**os.environ, "PATH": search_path()}


def check_programs(slurm: bool) -> None:
    """UserError if a program that a lab needs is missing."""
    for package, programs in (_ALWAYS | (_SLURM if slurm else {})).items():
        for program in programs:
            if shutil.which(program, path=search_path()) is None:
                raise UserError(f"a lab needs {program}, which is not installed", f"install {package}")


LAB_VARIABLE = "TIMPANI_LAB"
"""Environment variable of a process on a node: the id of its lab."""

ENTER, SSH, HOSTS, SLURM_CONF = "enter", "ssh", "hosts", "slurm.conf"


def environment(layout: Layout, folder: Path) -> dict[str, str]:
    """Settings that a cluster's administrator would make for the MPI libraries: how nodes reach each other, and that
    waiting ranks yield the processor, since nodes share cores."""
    ssh = str(folder / SSH)
    return {
        LAB_VARIABLE: layout.lab,
        "OMPI_MCA_plm_rsh_agent": ssh,
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "PRTE_MCA_plm_ssh_agent": ssh,
        "PRTE_MCA_prte_if_include": "eth0",
        "OMPI_MCA_btl": "tcp,vader,self",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": ssh,
        "HYDRA_IFACE": "eth0",
        **({"SLURM_CONF": str(folder / SLURM_CONF)} if layout.slurm else {}),
    }


def scripts(layout: Layout, folder: Path) -> dict[str, str]:
    """The scripts by name: `enter NODE WORD…` and `ssh [OPTION…] NODE LINE…`, whose LINE is for a shell, as with
    ssh."""
    exports = "".join(f"export {name}='{value}'\n" for name, value in environment(layout, folder).items())
    exports += f'export PATH="$PATH:{":".join(ADMINISTRATION)}"\n'
    return {
        ENTER: f"""#!/bin/sh
node=$1
shift
{exports}exec nsenter --net="/run/netns/{namespace_prefix(layout.lab)}$node" \\
    unshare --uts --mount --propagation slave sh -c \\
    'hostname "$0" && mount --bind {folder / HOSTS} /etc/hosts && exec "$@"' "$node" "$@"
""",
        SSH: f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
node=$1
shift
exec {folder / ENTER} "$node" sh -c "$*"
""",
    }


LABS = Path("/run/timpani/lab")
"""Removed by a restart of the machine, like namespaces."""

LAYOUT = "lab.json"

_NAMESPACES = Path("/run/netns")  # the folder of ip-netns(8)


@dataclass(frozen=True)
class Lab:
    """A lab. `layout` is None if it is half made or half removed, or made by another version."""

    id: str
    layout: Layout | None

    @property
    def folder(self) -> Path:
        """Folder of its files: the layout, the scripts, Slurm's configuration and logs."""
        return LABS / self.id

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Its existing namespaces."""
        return tuple(sorted(path.name for path in _NAMESPACES.glob(f"{namespace_prefix(self.id)}*")))

    @property
    def leftover(self) -> bool:
        """Whether it was left by a killed command."""
        return not (self.folder / LAYOUT).exists()

    @property
    def whole(self) -> bool:
        """Whether it is complete."""
        return self.layout is not None and set(self.layout.namespaces) <= set(self.namespaces)

    def enter(self, node: str, command: tuple[str, ...]) -> tuple[str, ...]:
        """The command that runs `command` on a node."""
        return (str(self.folder / ENTER), node, *command)


def labs() -> tuple[Lab, ...]:
    """All labs of this machine, sorted by id: those with a folder, and those with a namespace."""
    ids = {path.name for path in LABS.glob("*")} | {path.name.split("-")[1] for path in _NAMESPACES.glob("timpani-*-*")}
    return tuple(Lab(each, _read(LABS / each / LAYOUT)) for each in sorted(ids))


def choose_lab(name: str | None) -> Lab:
    """The lab with that id; without one, the only lab."""
    there = {lab.id: lab for lab in labs()}
    if name is not None and name not in there:
        raise unknown("lab", name, there, "timpani lab status")
    if not there:
        raise UserError("this machine has no lab", "make one: `timpani lab up`")
    if name is None and len(there) > 1:
        raise UserError(f"there are {len(there)} labs: {', '.join(there)}", "name one of them")
    return there[name or next(iter(there))]


def choose_whole_lab(name: str | None) -> tuple[Lab, Layout]:
    """A complete lab, with its layout."""
    lab = choose_lab(name)
    if lab.layout is None or not lab.whole:
        raise UserError(f"lab {lab.id} is incomplete", f"take it down and make another: `timpani lab down {lab.id}`")
    return lab, lab.layout


def _read(path: Path) -> Layout | None:
    try:
        return Layout.model_validate(json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, ValidationError):
        return None
