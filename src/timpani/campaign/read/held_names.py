"""The names of hosts, users and folders that a campaign's files hold, for whoever is about to send them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from timpani.campaign.folder.bundle import recorded_files
from timpani.campaign.folder.load import Campaign

_PATH = re.compile(r"(?<![\w./])(?:/[\w.+@-]+){2,}")
_HOME = re.compile(r"/(?:home|Users|users)/([\w.-]+)")
_USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")

_SYSTEM_FOLDERS = frozenset({"bin", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr"})
"""First parts of paths that all computers have."""

_SHOWN_PARTS = 3
"""Of a path."""


@dataclass(frozen=True)
class HeldNames:
    """Names in a campaign's records, raw text files and header, ascending; of a path its first parts."""

    hosts: tuple[str, ...]
    users: tuple[str, ...]
    folders: tuple[str, ...]


def held_names(campaign: Campaign) -> HeldNames:
    """The names that the files of `campaign` hold."""
    header = campaign.header
    recorded = [header.recorded, *(each.header for each in header.merged)]
    machines = [each.get("machine", {}) for each in recorded]
    hosts = {host["name"] for machine in machines for host in machine.get("hosts", ())}
    hosts |= {node for machine in machines for group in machine.get("groups", ()) for node in group.get("nodes", ())}
    hosts |= {
        each["host"]
        for launch in campaign.launches
        for key in ("ranks", "asked", "machines")
        for each in launch.get(key) or ()
    }
    hosts |= {node for job in campaign.jobs for node in job["nodes"]}
    texts = [text for each in (*recorded, *campaign.launches) for text in _strings(each)]
    texts += campaign.results["error"].drop_nulls().unique().to_list()
    files = recorded_files(campaign.folder)
    texts += [path.read_text(errors="replace") for name, path in files.items() if name.endswith(".txt")]
    environments = [launch.get("environment") or {} for launch in campaign.launches]
    users = {each[name] for each in environments for name in _USER_VARIABLES if name in each}
    users |= {name for text in texts for name in _HOME.findall(text)}
    parts = (path.split("/")[1:] for text in texts for path in _PATH.findall(text))
    folders = {"/" + "/".join(each[:_SHOWN_PARTS]) for each in parts if each[0] not in _SYSTEM_FOLDERS}
    return HeldNames(*(tuple(sorted(each)) for each in (hosts, users, folders)))


def _strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
