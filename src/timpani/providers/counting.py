"""How a library counts the messages that each rank sends to each other."""

from dataclasses import dataclass
from pathlib import Path

from timpani.native.find import Mpi


@dataclass(frozen=True)
class Counting:
    """Arguments to the starter that turn counting on.

    at_exit  False: counts are read around a single call, in one launch for all cells. True: the library writes totals
             when the program ends, so that a call's share is what one call more adds: two launches for each cell.
    """

    arguments: tuple[str, ...]
    at_exit: bool

    def writing_to(self, prefix: Path) -> tuple[str, ...]:
        """The arguments with the place that totals are written to, PREFIX.RANK.prof."""
        return (*self.arguments, "--mca", "pml_monitoring_filename", str(prefix)) if self.at_exit else self.arguments


def counting_of(mpi: Mpi) -> Counting | None:
    """How `mpi` counts, or None where it can't.

    Open MPI's monitoring component has its MPI_T variables from 5.0 (ran on 5.0.11); 4.1.4 writes files only (ran).
    """
    if mpi.kind != "openmpi":
        return None
    enable = ("--mca", "pml_monitoring_enable", "1")
    if mpi.numbers >= (5,):
        return Counting(enable, at_exit=False)
    return Counting((*enable, "--mca", "pml_monitoring_enable_output", "3"), at_exit=True)
