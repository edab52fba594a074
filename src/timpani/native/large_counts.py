"""Whether an MPI library has MPI 4's calls with large counts, such as MPI_Bcast_c."""

import os
import re
import subprocess
from functools import cache

from timpani.native.mpi import Mpi


@cache
def has_large_counts(mpi: Mpi) -> bool:
    """By what its `mpi.h` declares, as `native/CMakeLists.txt` looks it up; False where its compiler does not run."""
    try:
        declared = subprocess.run(
            [mpi.cxx, "-E", "-x", "c++", "-"],
            input="#include <mpi.h>\n",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **dict(mpi.environment)},
        )
    except OSError:
        return False
    return re.search(r"\bMPI_Bcast_c\s*\(", declared.stdout) is not None
