"""What tests preload under the ranks that they start themselves."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from timpani.native.mpi import Mpi

_YIELDS = Path(__file__).with_name("mpich_yields.c")


def preload(mpi: Mpi, oversubscribed: bool, *libraries: Path) -> dict[str, str]:
    """The environment with `libraries` preloaded. Oversubscribed ranks yield while they wait: Open MPI's are set to
    when they are started, and MPICH's have no setting for it."""
    beneath = [*([_yields()] if oversubscribed and mpi.kind == "mpich" else []), *libraries]
    return {"LD_PRELOAD": ":".join(map(str, beneath))} if beneath else {}


@cache
def _yields() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="timpani-tests-"))
    atexit.register(shutil.rmtree, folder)
    library = folder / "libyields.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(_YIELDS), "-o", str(library)], check=True)
    return library
