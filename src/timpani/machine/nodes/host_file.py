"""Reads host files in any launcher's syntax, and writes rank files in a library's syntax."""

import re
from collections.abc import Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.launch_request import Host, HostList
from timpani.libraries.library import Library
from timpani.machine.nodes.host_list import added_slots
from timpani.machine.nodes.node_set import MAX_NODES, expand
from timpani.machine.nodes.places import RankBinding
from timpani.reading import read_lines

_LINE = re.compile(
    r"(?:(?P<user>[A-Za-z_][\w.-]*)@)?(?P<nodes>[^\s:@]+)(?::(?P<slots>[1-9]\d{0,5}))?(?P<settings>(?:\s+[\w-]+\s*=\s*\S+)*)",
    re.ASCII,
)
_SETTING = re.compile(r"([\w-]+)\s*=\s*(\S+)", re.ASCII)
_SLOTS = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_SLOTS_KEYS = ("slots", "slot", "count", "cpus", "cpu")
_OTHER_KEYS = ("max_slots", "max-slots", "slots_max", "slots-max", "binding", "user", "username", "ifhn", "port")
"""Other settings of Open MPI's and Hydra's launchers; they don't affect which host gets ranks first."""

_MAX_MENTIONS = 1_000_000  # maximum of host mentions in one file: 100,000 nodes, ten times each


def rank_file(places: Sequence[RankBinding], library: Library) -> str:
    """A line for each rank: host, socket and core. UserError if the library's launcher has no rank files."""
    line = library.rank_line
    if line is None:
        raise UserError(f"{library.name}'s launcher reads no rank files", "leave --ranks out, or --syntax")
    return "".join(f"{line(rank, each.host, each.socket, each.core)}\n" for rank, each in enumerate(places))


def read_hosts(path: Path) -> HostList:
    """The hosts of a file, in the order of their first line.

    A line is `name`, `name slots=N` or `name:N`; names may be node sets, and other settings of Open MPI's and Hydra's
    launchers are accepted. `#` begins a comment. Slots of a repeated host add up; a line without slots counts as one.
    """
    mentions: dict[str, list[int | None]] = {}
    count = 0
    for number, line in enumerate(read_lines(path, "the host file", "`timpani hostfile` prints one"), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            names, slots = _of_line(text)
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error.what}", error.next_step) from None
        count += len(names)
        if count > _MAX_MENTIONS or len(mentions) > MAX_NODES:
            raise UserError(f"{path} names more than {MAX_NODES} hosts", "leave some out")
        for name in names:
            mentions.setdefault(name, []).append(slots)
    if not mentions:
        raise UserError(f"{path} names no host", "`timpani hostfile` prints one")
    return tuple(Host(name, added_slots(each)) for name, each in mentions.items())


def _of_line(text: str) -> tuple[Sequence[str], int | None]:
    """The names of a line, and the slots of each; None if it has none."""
    match = _LINE.fullmatch(text)
    if not match:
        raise UserError(f"{text!r} is not a host", "write name, name slots=N or name:N")
    slots = int(match["slots"]) if match["slots"] else None
    for key, value in _SETTING.findall(match["settings"]):
        if key in _SLOTS_KEYS and slots is None and _SLOTS.fullmatch(value):
            slots = int(value)
        elif key not in _OTHER_KEYS:
            raise UserError(f"{text!r} is not a host: {key}={value}", "write name, name slots=N or name:N")
    return expand(match["nodes"]), slots
