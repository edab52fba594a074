"""Host files: written in a library's syntax, read in either."""

import re
from collections.abc import Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.machine.hosts import Host, HostList
from timpani.machine.node_set import MOST_NODES, expand
from timpani.machine.places import Place
from timpani.native.find import Kind
from timpani.reading import read_bytes

_SLOTS: dict[Kind, str] = {"openmpi": "{} slots={}", "mpich": "{}:{}", "simgrid": "{}:{}"}
_LINE = re.compile(r"(?P<nodes>[^\s:]+)(?:(?::|\s+slots\s*=\s*)(?P<slots>[1-9]\d{0,5}))?", re.ASCII)


def host_file(hosts: Sequence[Host], kind: Kind) -> str:
    """A line for each host: the launchers know no node sets."""
    return "".join(f"{_SLOTS[kind].format(host.name, host.slots) if host.slots else host.name}\n" for host in hosts)


def rank_file(places: Sequence[Place]) -> str:
    """A line for each rank in Open MPI's syntax: host, socket and core. MPICH's launcher has no such file.

    Open MPI 4.1 takes it as `--rankfile FILE`, 5 as `--map-by rankfile:file=FILE`.
    """
    return "".join(f"rank {rank}={place.host} slot={_core(place)}\n" for rank, place in enumerate(places))


def _core(place: Place) -> str:
    return str(place.core) if place.socket is None else f"{place.socket}:{place.core}"


def read_hosts(path: Path) -> HostList:
    """The hosts of a file: `name`, `name slots=N` or `name:N` a line, node sets too; `#` begins a comment."""
    try:
        lines = read_bytes(path, "`timpani hostfile` prints one").decode().splitlines()
    except (FileNotFoundError, ValueError) as error:
        raise UserError(f"the host file {path} can't be read ({error})", "`timpani hostfile` prints one") from None
    hosts: dict[str, Host] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = _LINE.fullmatch(text)
        if not match:
            raise UserError(f"{path}, line {number}: {text!r} is not a host", "write name, name slots=N or name:N")
        try:
            names = expand(match["nodes"])
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error.what}", error.next_step) from None
        for name in names:
            if name in hosts:
                raise UserError(f"{path}, line {number}: {name} is listed twice", "name each once, with its slots")
            hosts[name] = Host(name, int(match["slots"]) if match["slots"] else None)
        if len(hosts) > MOST_NODES:
            raise UserError(f"{path} names more than {MOST_NODES} hosts", "leave some out")
    if not hosts:
        raise UserError(f"{path} names no host", "`timpani hostfile` prints one")
    return tuple(hosts.values())
