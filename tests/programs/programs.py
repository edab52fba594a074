"""Programs that tests profile, compiled once for a library."""

import os
import subprocess
from pathlib import Path

from timpani.native.mpi import Mpi

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Open MPI starts nothing for root without these."""

CALLS = """
#include <mpi.h>
int main(int argc, char **argv) {
    char data[1024] = {0};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) MPI_Bcast(data, 1024, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def compile_program(mpi: Mpi, text: str, into: Path, *options: str) -> Path:
    """The C program `text` at `into`, compiled with these further options."""
    source = into.with_suffix(".c")
    source.write_text(text)
    subprocess.run([compiler_of(mpi), "-O1", *options, source, "-o", into], check=True)
    return into


def compiler_of(mpi: Mpi) -> Path:
    """The library's C compiler."""
    return mpi.cxx.with_name(mpi.cxx.name.replace("mpicxx", "mpicc"))


def environment(*folders: Path) -> dict[str, str]:
    """That of this process, with `folders` first on PATH."""
    return {**os.environ, **AS_ROOT, "PATH": ":".join([*map(str, folders), os.environ["PATH"]])}
