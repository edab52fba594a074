"""The hosts that ranks are started on, and the files that list them for launchers."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A node to start ranks on; `slots` is how many ranks it takes before the next node does, None: as it has cores."""

    name: str
    slots: int | None = None


HostList = tuple[Host, ...]


def host_file(hosts: Sequence[Host], with_slots: str) -> str:
    """A line for each host: the launchers know no node sets. `with_slots` is such a line, `{}` for name and slots."""
    return "".join(f"{with_slots.format(host.name, host.slots) if host.slots else host.name}\n" for host in hosts)
