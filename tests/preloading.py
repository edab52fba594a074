"""What tests set under the ranks that they start themselves."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from timpani.native.mpi import Mpi

_YIELDS = Path(__file__).with_name("mpich_yields.c")


def yielding(mpi: Mpi, *libraries: Path) -> dict[str, str]:
    """The environment with `libraries` preloaded, in which waiting ranks yield, since other tests run at the same time.
    MPICH has no setting for it."""
    beneath = [*([_yields()] if mpi.kind == "mpich" else []), *libraries]
    preloaded = {"LD_PRELOAD": ":".join(map(str, beneath))} if beneath else {}
    return preloaded | ({"OMPI_MCA_mpi_yield_when_idle": "1"} if mpi.kind == "openmpi" else {})


@cache
def _yields() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="timpani-tests-"))
    atexit.register(shutil.rmtree, folder)
    library = folder / "libyields.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(_YIELDS), "-o", str(library)], check=True)
    return library
