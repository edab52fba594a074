"""The question that every MPI library answers in its own way: what do you offer, and how is one algorithm forced?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from timpani.native.find import Mpi
from timpani.providers.catalogue import AlgorithmInfo, Catalogue
from timpani.study.cell import Algorithm

Controls = tuple[tuple[str, int], ...]
"""MPI_T control variables and their values."""


@dataclass(frozen=True)
class AlgorithmSelection:
    """How a launch and a cell make the library run one algorithm.

    arguments    to mpirun, for the whole launch
    environment  of the whole launch
    at_creation  MPI_T control variables that hold while the cell's communicator is created: inside one launch
    at_call      … that hold while the collective is called

    Cells whose arguments and environment are equal can share a launch.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    at_creation: Controls = ()
    at_call: Controls = ()


@dataclass(frozen=True)
class Counting:
    """Arguments to the launcher that make a library count the messages that each rank sends to each other.

    at_exit  False: counts are read around a single call, in one launch for all cells. True: the library writes totals
             when the program ends, so that a call's share is what one call more adds: two launches for each cell.
    """

    arguments: tuple[str, ...]
    at_exit: bool

    def writing_to(self, prefix: Path) -> tuple[str, ...]:
        """The arguments with `{prefix}` filled in: totals are written to PREFIX.RANK.prof."""
        return tuple(argument.replace("{prefix}", str(prefix)) for argument in self.arguments)


class Provider(Protocol):
    """One kind of MPI library."""

    overrides: re.Pattern[str]
    """Names of the environment's variables that choose algorithms; launches go without them."""

    def catalogue(self, mpi: Mpi) -> Catalogue:
        """What `mpi` offers, asked of the installed library."""
        ...

    def counting(self, mpi: Mpi) -> Counting | None:
        """How `mpi` counts messages, or None where it can't."""
        ...

    def shared_start(self, mpi: Mpi, several_nodes: bool) -> AlgorithmSelection | None:
        """How a launch starts in which the default, with nothing written, is what it is alone, and others can be
        switched to. None where that was not shown for this version, or doesn't hold: then the default has launches of
        its own."""
        ...

    def selection(self, mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
        """How `mpi` is made to run `algorithm`; `info` is what the catalogue has of it, None of the default."""
        ...

    def setting(self, mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> str:
        """What a user types to have `algorithm` in all calls of its collective: a shell's words before the program."""
        ...
