"""SimGrid's MPI: it names its algorithms where it refuses a name, and takes one for each start.

`default` is its selector `ompi`, which decides as Open MPI does. Its names stay as they are.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.library import AlgorithmSelection
from timpani.native.mpi import Mpi
from timpani.native.packages import install_command
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="zone" routing="Full"><host id="host" speed="1Gf"/></zone></platform>
"""
_ANSWER = re.compile(r"Valid algorithms: (?P<names>[^.]+)\.")
_RENAMED = {"default": "smpi_default"}  # Timpani uses `default` for what runs unforced
_NOT_OFFERED = ("ompi", "automatic")  # the first is `default`; the second tries all the others, one after another

STAND_INS = {
    ("bcast", "openmpi/basic_linear"): "simgrid/flattree",
    ("bcast", "openmpi/binary_tree"): "timpani/binary:segment_bytes=0",
    ("bcast", "openmpi/knomial"): "timpani/knomial",
    ("bcast", "openmpi/chain"): "timpani/chain:fanout=4",
    ("bcast", "openmpi/split_binary_tree"): "timpani/split_binary:segment_bytes=0",
    ("bcast", "openmpi/scatter_allgather_ring"): "simgrid/scatter_LR_allgather",
    ("scatter", "openmpi/basic_linear"): "simgrid/ompi_basic_linear",
    ("scatter", "openmpi/binomial"): "simgrid/ompi_binomial",
    ("scatter", "openmpi/linear_nb"): "simgrid/ompi_linear_nb",
    ("reduce", "openmpi/linear"): "simgrid/ompi_basic_linear",
    ("reduce", "openmpi/chain"): "simgrid/ompi_chain",
    ("reduce", "openmpi/binary"): "simgrid/ompi_binary",
}
"""The stand-in for an algorithm of Open MPI, whose decisions are the default: SimGrid's version of it, or Timpani's."""

SAME_WHILE_EAGER = {"scatter": ("ompi_basic_linear", "ompi_linear_nb")}
"""Both send each block from the root in the order of ranks, one with MPI_Send and one with MPI_Isend."""


def catalogue(mpi: Mpi) -> Catalogue:
    """Ask smpirun about each collective; those that it lets nobody choose for have no algorithms."""
    algorithms = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "platform.xml").write_text(_PLATFORM)
        (Path(folder) / "hosts").write_text("host\n")
        for collective in COLLECTIVES:
            names = [name for name in _listed_names(mpi, collective, folder) if name not in _NOT_OFFERED]
            if names:
                algorithms[collective] = tuple(
                    AlgorithmInfo(collective, _RENAMED.get(name, name), name, ()) for name in names
                )
    if not algorithms:
        raise UserError(f"{mpi} lists no algorithms", f"install SimGrid whole: {install_command('libsimgrid-dev')}")
    return Catalogue(mpi.kind, mpi.version, algorithms, STAND_INS, mpi.name)


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """A separate start for each algorithm."""
    return AlgorithmSelection(() if info is None else (_parameter(info),))


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """The parameter of the measurement."""
    return (_parameter(info),)


def _parameter(info: AlgorithmInfo) -> tuple[str, str]:
    return f"smpi/{info.collective}", info.value


def _listed_names(mpi: Mpi, collective: str, folder: str) -> list[str]:
    """The names that it lists when it is asked for an algorithm that it can't have."""
    answer = subprocess.run(
        [
            *(str(mpi.mpirun), "-np", "1", "-platform", "platform.xml", "-hostfile", "hosts"),
            *(f"--cfg=smpi/{collective}:?", "/bin/true"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    match = _ANSWER.search(answer.stdout + answer.stderr)
    return match["names"].split(", ") if match else []
