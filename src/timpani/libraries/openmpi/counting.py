"""Open MPI's monitoring component counts messages."""

from timpani.libraries.library import Counting
from timpani.native.mpi import Mpi

_ENABLE = ("pml_monitoring_enable", "1")


def counting(mpi: Mpi) -> Counting:
    """By MPI_T variables from 5.0 (ran on 5.0.11), into files only on 4.1 (ran on 4.1.4)."""
    if mpi.numbers >= (5,):
        return Counting((_ENABLE,), at_exit=False)
    output = (("pml_monitoring_enable_output", "3"), ("pml_monitoring_filename", "{prefix}"))
    return Counting((_ENABLE, *output), at_exit=True)
