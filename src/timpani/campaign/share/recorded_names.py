"""The names of hosts, users and switches that a campaign's records name, and the words that its texts need."""

import contextlib
import getpass
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from timpani.campaign.folder.fields import LaunchFields
from timpani.campaign.folder.header import Header
from timpani.campaign.share.pseudonyms import HOME, HOST, MACHINE, SWITCH, USER, Pseudonyms, node_sets
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers.lab_launcher import LAUNCHER as LAB
from timpani.machine.nodes.model import LAUNCHERS, Machine, NodeGroup
from timpani.study.keys import KEYS
from timpani.study.operations import OPERATIONS
from timpani.study.placement import PLACEMENTS, UNPLACED
from timpani.study.schema import CELL

_COMMON = (
    *("root", "user", "users", "admin", "test", "guest", "nobody", "localhost", "mpi", "mpirun", "timpani"),
    *("host", "node", "cluster", "login", "machine", "linux", "debian", "ubuntu", "centos", "rocky", "slurm", "home"),
)
"""Accounts and hosts of this name identify nobody, and texts need the words."""

_USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")


def known_pseudonyms(
    recorded: Mapping[str, Any],
    launches: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    texts: Iterable[str],
) -> Pseudonyms:
    """Pseudonyms of the names of this computer and its user, and of all in records of a campaign.

    recorded  the header
    launches  lines of starts and endings
    texts     of other files
    """
    hosts, switches, machines = _Names(), _Names(), _Names()
    headers = [recorded, *(part["header"] for part in recorded.get("merged", ()))]
    machines.add(*(part["machine"] for part in recorded.get("merged", ())))
    for machine in (header.get("machine", {}) for header in headers):
        for group in machine.get("groups", ()):
            hosts.add(*group.get("nodes", ()))
            switches.add(group.get("name", ""), group.get("switch") or "")
        hosts.add(*(host["name"] for host in machine.get("hosts", ())))
        if "groups" not in machine:
            hosts.add(*machine.get("name", "").split(", "))  # of a merged campaign several
        elif machine.get("launcher") != LAB:  # a lab is named after its layout
            machines.add(machine.get("name", ""))
    for line in launches:
        hosts.add(*(each["host"] for key in ("ranks", "asked", "machines") for each in line.get(key) or ()))
    hosts.add(platform.node())
    strings = [text for each in (recorded, *launches) for text in _strings(each)]
    errors = [line["error"] for line in results if line.get("error")]
    users = _users(launches, [*strings, *errors, *texts])
    for text in strings:
        for nodes in node_sets(text).values():
            if any(node in hosts for node in nodes):
                hosts.add(*nodes)
    names = {HOST: hosts, SWITCH: switches, USER: users, MACHINE: machines}
    return Pseudonyms.new(names, _words_in(results))


class _Names(dict[str, None]):
    """Names in the order in which they were found."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__(dict.fromkeys(names))

    def add(self, *names: str) -> None:
        self.update(dict.fromkeys(names))


def _users(launches: Iterable[Mapping[str, Any]], texts: Iterable[str]) -> _Names:
    users = _Names(name for text in texts for name in HOME.findall(text))
    for launch in launches:
        environment = launch.get("environment") or {}
        users.add(*(environment[name] for name in _USER_VARIABLES if name in environment))
    with contextlib.suppress(KeyError, OSError, RuntimeError):  # where the user has no name
        users.add(getpass.getuser(), Path.home().name)
    return users


def _words_in(lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Words that records need: keys, names of cells, libraries and launchers."""
    yield from _COMMON
    for keys in (KEYS, LaunchFields.__annotations__, Header.model_fields, Machine.model_fields, NodeGroup.model_fields):
        yield from keys
    yield from (*CELL, *OPERATIONS, *LIBRARIES, *LAUNCHERS, *PLACEMENTS, UNPLACED)
    for line in lines:
        yield from (line[name] for name in CELL if isinstance(line.get(name), str))


def _strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
