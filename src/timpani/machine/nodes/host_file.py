"""Host files, read in any launcher's syntax, and rank files, written in a library's."""

import re
from collections.abc import Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.hosts import Host, HostList
from timpani.libraries.library import Library
from timpani.machine.nodes.node_set import MOST_NODES, expand
from timpani.machine.nodes.places import Place
from timpani.reading import read_bytes

_LINE = re.compile(r"(?P<nodes>[^\s:]+)(?:(?::|\s+slots\s*=\s*)(?P<slots>[1-9]\d{0,5}))?", re.ASCII)


def rank_file(places: Sequence[Place], library: Library) -> str:
    """A line for each rank: host, socket and core. UserError where the library's launcher has no such files."""
    line = library.rank_line
    if line is None:
        raise UserError(f"{library.name}'s launcher reads no rank files", "leave --ranks out, or --syntax")
    return "".join(f"{line(rank, each.host, each.socket, each.core)}\n" for rank, each in enumerate(places))


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
