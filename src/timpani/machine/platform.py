"""Reads a SimGrid platform file as a machine: its hosts, grouped into nodes."""

import re
import shlex
from collections import defaultdict
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

from timpani.errors import UserError, unknown
from timpani.machine.nodes.locality import groups_of_equal_nodes
from timpani.machine.nodes.model import Machine
from timpani.reading import read_bytes

_SHIPPED = Path(str(files("timpani.machine") / "platforms"))
_RADICAL = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_MAX_HOSTS = 100_000  # maximum in a cluster
_MAX_CORES = 1_000_000  # maximum in all hosts
_MAX_FILE_BYTES = 2**24
_SETS = ("cluster", "cabinet")
_HOST_TAGS = ("host", "peer", *_SETS)
_OLD_VERSION = re.compile(r"[0-3](\.\d{1,9})?", re.ASCII)
_NAME = re.compile(r"\S{1,1000}")
_MEMORY = "memory_bytes_per_s"
_RATE = re.compile(r"[1-9]\d{0,17}(\.\d{1,9})?([eE]\+?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Socket:
    """Hosts that form a socket, one for each core, with the file's `node` and `group`."""

    group: str
    node: str
    cores: tuple[str, ...]


def shipped_platforms() -> dict[str, Path]:
    """The platform files that come with Timpani, by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.xml"))}


def find_platform(text: str) -> Path:
    """The file of `simgrid:TEXT`: a shipped platform or a path."""
    shipped = shipped_platforms()
    if text in shipped:
        return shipped[text]
    if not text or not Path(text).exists():
        raise unknown("platform", text, shipped, "docs/how-to/simulate-a-cluster.md")
    return Path(text).absolute()


def read_platform(path: Path) -> tuple[Socket, ...]:
    """The sockets of a platform file, in order.

    Each host is a node with one socket of `core` cores: a `<host>`, a `<peer>`, and each host of a `<cluster>` or a
    `<cabinet>`. A property `node` assigns a socket to a node, and makes a `<cluster>` of hosts with one core each a
    socket; `group` gives the switch. Without it all are behind one switch.
    """
    step = "name a SimGrid platform file"
    try:
        raw = read_bytes(path, step, _MAX_FILE_BYTES)
        root = ElementTree.fromstring(raw)  # noqa: S314 - a file that the user names, for their own simulator
    except (FileNotFoundError, ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: the encoding
        raise UserError(f"{path} can't be read as a platform ({error})", step) from None
    _check_version(root, path)
    sockets: list[Socket] = []
    total = 0
    for element in root.iter():
        if element.tag not in _HOST_TAGS:
            continue
        found = _sockets(element, path)
        sockets += found
        total += sum(len(socket.cores) for socket in found)
        if total > _MAX_CORES:
            raise UserError(f"{path} has more than {_MAX_CORES} cores", "describe fewer hosts")
    if not sockets:
        raise UserError(f"{path} has no host", "name a SimGrid platform file with <host> or <cluster>")
    return tuple(sockets)


def _check_version(root: ElementTree.Element, path: Path) -> None:
    """UserError for files that current SimGrid can't read, or that include others."""
    version = root.get("version", "")
    if _OLD_VERSION.fullmatch(version):
        raise UserError(
            f"{path} is a platform of version {version}, which SimGrid no longer reads",
            f"`simgrid_update_xml {shlex.quote(str(path))}` updates it",
        )
    if (include := root.find(".//include")) is not None:
        what = f"{path} includes {include.get('file', '')!r}, whose hosts are not read"
        raise UserError(what, "put the hosts into the file itself")


def _sockets(element: ElementTree.Element, path: Path) -> list[Socket]:
    """The sockets of a host, or of the hosts of a cluster or a cabinet."""
    said = {prop.get("id"): prop.get("value", "") for prop in element.findall("prop")}
    group, node = said.get("group", "switch"), said.get("node")
    count = element.get("core", "1")
    if not _COUNT.fullmatch(count):
        raise UserError(f"{path}: {count!r} is not a number of cores", 'write for example core="8"')
    cores = int(count)
    memory = said.get(_MEMORY)  # bytes that a core copies per second: the measuring program reads it
    if memory is not None and not _RATE.fullmatch(memory):
        raise UserError(f"{path}: {memory!r} is not a {_MEMORY}", "write bytes per second, for example 12.5e9")
    hosts = _members(element, path) if element.tag in _SETS else (element.get("id", ""),)
    strange = next((name for name in hosts if not (_NAME.fullmatch(name) and name.isprintable())), None)
    if strange is not None:
        raise UserError(f"{path}: {strange!r} is not a host name", 'write for example id="node-1"')
    if cores * len(hosts) > _MAX_CORES:
        raise UserError(f"{path} has more than {_MAX_CORES} cores", "describe fewer hosts")
    if element.tag in _SETS and cores == 1 and node is not None:
        return [Socket(group, node, hosts)]
    return [Socket(group, host if node is None else node, (host,) * cores) for host in hosts]


def machine_of(path: Path) -> Machine:
    """The machine of a platform file."""
    nodes: dict[str, list[Socket]] = defaultdict(list)
    for socket in read_platform(path):
        nodes[socket.node].append(socket)
    for name, sockets in nodes.items():
        if len({len(socket.cores) for socket in sockets}) > 1:
            raise UserError(f"{path}: the sockets of {name} have different numbers of cores", "make them equal")
    facts = {
        name: (sockets[0].group, sum(len(socket.cores) for socket in sockets), len(sockets))
        for name, sockets in nodes.items()
    }
    machine = {"name": f"simgrid:{path.stem}", "launcher": "simgrid", "platform": str(path)}
    return Machine.check({**machine, "groups": groups_of_equal_nodes(facts)}, str(path))


def _members(cluster: ElementTree.Element, path: Path) -> tuple[str, ...]:
    """The host names of a cluster: prefix, each number of its radical `0-11,16`, suffix."""
    numbers: list[int] = []
    for part in cluster.get("radical", "").split(","):
        match = _RADICAL.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, _MAX_HOSTS)
        if len(numbers) + last - first >= _MAX_HOSTS:
            raise UserError(f"{path}: {part!r} is not a radical of a cluster", "write for example 0-11")
        numbers += range(first, last + 1)
    return tuple(f"{cluster.get('prefix', '')}{number}{cluster.get('suffix', '')}" for number in numbers)
