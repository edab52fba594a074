"""What a launcher is asked for, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from timpani.machine.hosts import HostList
from timpani.machine.model import Machine


@dataclass(frozen=True)
class LaunchRequest:
    """One start of an MPI program.

    placement       as `study/placement.py` has it
    oversubscribed  more ranks than cores: ranks are not bound and give way while they wait
    arguments       for the launcher, before the program; environment is every rank's
    machine         whose launcher starts the ranks; None: the library's own launcher on this computer
    hosts           where ranks go, with their slots; empty: this computer
    folder          of the launch, where `Command.files` go
    """

    ranks: int
    placement: str
    oversubscribed: bool
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    program: tuple[str, ...]
    machine: Machine | None = None
    hosts: HostList = ()
    folder: Path = Path()


@dataclass(frozen=True)
class Command:
    """What to run; `environment` is added to the caller's own.

    files  that it reads: name → text, to be written into the launch's folder before
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
