"""A SimGrid platform file as a machine: which hosts it has, and how they make up nodes."""

import re
from collections import defaultdict
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

from timpani.errors import UserError, unknown
from timpani.machine.nodes.model import Machine
from timpani.reading import read_bytes

_SHIPPED = Path(str(files("timpani.machine") / "platforms"))
_RADICAL = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_MOST_HOSTS = 100_000  # of a cluster
_MOST_CORES = 1_000_000  # of all hosts together
_MOST_FILE_BYTES = 2**24
_NAME = re.compile(r"\S{1,1000}")
_MEMORY = "memory_bytes_per_s"
_RATE = re.compile(r"[1-9]\d{0,17}(\.\d{1,9})?([eE]\+?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Socket:
    """Hosts that share a socket, one name for each core; `node` and `group` are what the file says it belongs to."""

    group: str
    node: str
    cores: tuple[str, ...]


def shipped_platforms() -> dict[str, Path]:
    """The platform files that come with Timpani, by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.xml"))}


def find_platform(text: str) -> Path:
    """The file that `simgrid:TEXT` names: a shipped platform or a path."""
    shipped = shipped_platforms()
    if text in shipped:
        return shipped[text]
    if not Path(text).is_file():
        raise unknown("platform", text, shipped, "docs/how-to/simulate-a-cluster.md")
    return Path(text).absolute()


def read_platform(path: Path) -> tuple[Socket, ...]:
    """The sockets of a platform file, in its order.

    A `<host>` is a node of one socket, with its `core` cores; a `<cluster>` of hosts with one core each is a socket, of
    hosts with more it is as many nodes. A property `node` says which node a socket belongs to, `group` which switch;
    without them a socket is a node, and all are behind one switch.
    """
    step = "name a SimGrid platform file"
    try:
        raw = read_bytes(path, step, _MOST_FILE_BYTES)
        root = ElementTree.fromstring(raw)  # noqa: S314 - a file that the user names, for their own simulator
    except (FileNotFoundError, ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
        raise UserError(f"{path} can't be read as a platform ({error})", step) from None
    sockets: list[Socket] = []
    total = 0
    for element in root.iter():
        if element.tag not in ("host", "cluster"):
            continue
        said = {prop.get("id"): prop.get("value", "") for prop in element.findall("prop")}
        group = said.get("group", "switch")
        count = element.get("core", "1")
        if not _COUNT.fullmatch(count):
            raise UserError(f"{path}: {count!r} is not a number of cores", 'write for example core="8"')
        cores = int(count)
        _check_memory(said.get(_MEMORY), path)
        if element.tag == "host":
            hosts: tuple[str, ...] = (element.get("id", ""),)
        else:
            hosts = _members(element, path)
        if (strange := next((name for name in hosts if not _is_name(name)), None)) is not None:
            raise UserError(f"{path}: {strange!r} is not a host name", 'write for example id="node-1"')
        total += cores * len(hosts)
        if total > _MOST_CORES:
            raise UserError(f"{path} has more than {_MOST_CORES} cores", "describe fewer hosts")
        if element.tag == "cluster" and cores == 1:
            sockets.append(Socket(group, said.get("node", element.get("id", "")), hosts))
        else:
            sockets += [Socket(group, said.get("node", host), (host,) * cores) for host in hosts]
    if not sockets:
        raise UserError(f"{path} has no host", "name a SimGrid platform file with <host> or <cluster>")
    return tuple(sockets)


def machine_of(path: Path) -> Machine:
    """The machine that a platform file describes; nodes alike and behind one switch are a group, called after it.

    Where nodes behind one switch differ, their cores are part of the name.
    """
    nodes: dict[str, list[Socket]] = defaultdict(list)
    for socket in read_platform(path):
        nodes[socket.node].append(socket)
    groups: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for name, sockets in nodes.items():
        if len({len(socket.cores) for socket in sockets}) > 1:
            raise UserError(f"{path}: the sockets of {name} have different numbers of cores", "make them equal")
        groups[sockets[0].group, sum(len(socket.cores) for socket in sockets), len(sockets)].append(name)
    switches = [switch for switch, _, _ in groups]
    return Machine.check(
        {
            "name": f"simgrid:{path.stem}",
            "launcher": "simgrid",
            "platform": str(path),
            "groups": [
                {
                    "name": switch if switches.count(switch) == 1 else f"{switch}-{cores}x{sockets}",
                    "nodes": names,
                    "cores": cores,
                    "sockets": sockets,
                    "switch": None if switches.count(switch) == 1 else switch,
                }
                for (switch, cores, sockets), names in groups.items()
            ],
        },
        str(path),
    )


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and text.isprintable()


def _check_memory(text: str | None, path: Path) -> None:
    """What a core copies in a second, which the measuring program reads, is a number, or nothing is said of it."""
    if text is not None and not _RATE.fullmatch(text):
        raise UserError(f"{path}: {text!r} is no {_MEMORY}", "write bytes a second, for example 12.5e9")


def _members(cluster: ElementTree.Element, path: Path) -> tuple[str, ...]:
    """The hosts of a cluster: prefix, each number of its radical `0-11,16`, suffix."""
    numbers: list[int] = []
    for part in cluster.get("radical", "").split(","):
        match = _RADICAL.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, _MOST_HOSTS)
        if len(numbers) + last - first >= _MOST_HOSTS:
            raise UserError(f"{path}: {part!r} is not a radical of a cluster", "write for example 0-11")
        numbers += range(first, last + 1)
    return tuple(f"{cluster.get('prefix', '')}{number}{cluster.get('suffix', '')}" for number in numbers)
