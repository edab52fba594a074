"""Open MPI's monitoring component counts messages."""

from timpani.libraries.library import Counting
from timpani.libraries.openmpi.installed import components_of
from timpani.native.mpi import Mpi

_ENABLE = ("pml_monitoring_enable", "1")


def counting(mpi: Mpi) -> Counting | None:
    """By MPI_T variables from 5.0 (ran on 5.0.11), into files only on 4.1 (ran on 4.1.4).

    None where the component is missing, as in builds for PyPI of 4.1: such a library would count nothing in silence.
    """
    if mpi.info is not None and "monitoring" not in components_of(mpi).get("pml", ()):
        return None
    if mpi.numbers >= (5,):
        return Counting((_ENABLE,), at_exit=False)
    output = (("pml_monitoring_enable_output", "3"), ("pml_monitoring_filename", "{prefix}"))
    return Counting((_ENABLE,), at_exit=True, output=output)
