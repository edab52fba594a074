"""What a launcher is asked for, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LaunchRequest:
    """One start of an MPI program.

    placement       `core` fills the cores one after another, `socket` and `node` deal the ranks out in turn
    oversubscribed  more ranks than cores: ranks are not bound and give way while they wait
    arguments       for the starter, before the program; environment is every rank's
    """

    ranks: int
    placement: str
    oversubscribed: bool
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    program: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """What to run; `environment` is added to the caller's own."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
