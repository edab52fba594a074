"""A launcher's input: the ranks and the hosts that they are started on; and the command that it answers with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Host:
    """A node to start ranks on; `slots` is how many ranks it takes before the next node does, None: as it has cores."""

    name: str
    slots: int | None = None


HostList = tuple[Host, ...]


def host_file(hosts: Sequence[Host], with_slots: str) -> str:
    """A line for each host: the launchers know no node sets. `with_slots` is such a line, `{}` for name and slots."""
    return "".join(f"{with_slots.format(host.name, host.slots) if host.slots else host.name}\n" for host in hosts)


Parameters = tuple[tuple[str, str], ...]
"""Parameters of the library and their values, by its own names: a launcher or an environment spells them."""


@dataclass(frozen=True)
class LaunchRequest:
    """One start of an MPI program.

    placement       as `study/placement.py` has it
    oversubscribed  more ranks than cores: ranks are not bound and give way while they wait
    parameters      of the library, for this start; environment is every rank's
    hosts           where ranks go, with their slots; empty: this computer
    folder          of the launch, where `Command.files` go
    arguments       further words for the launcher, before the program
    platform        the simulated machine's description, and each rank's host there; None: nothing is simulated
    """

    ranks: int
    placement: str
    oversubscribed: bool
    parameters: Parameters
    environment: Mapping[str, str]
    program: tuple[str, ...]
    hosts: HostList = ()
    folder: Path = Path()
    platform: Path | None = None
    simulated_hosts: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """What to run; `environment` is added to the caller's own.

    files  that it reads: name → text, to be written into the launch's folder before
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
