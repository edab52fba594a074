"""The compiler that an MPI library's wrapper calls, where it isn't there."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from timpani.errors import UserError

_VARIABLES = ("OMPI_CXX", "MPICH_CXX", "I_MPI_CXX")
"""By which users name another compiler to Open MPI's, MPICH's and Intel MPI's wrappers."""


def missing_compiler(cxx: Path, environment: Mapping[str, str]) -> UserError | None:
    """The error for a wrapper `cxx` that calls a program which isn't on PATH; None for other wrappers and programs.

    environment  variables that the wrapper must find, in addition to this process's
    """
    try:
        shown = subprocess.run(
            [cxx, "-show"], capture_output=True, text=True, check=False, env={**os.environ, **environment}
        )
        words = shlex.split(shown.stdout, comments=False)
    except (OSError, ValueError):
        return None
    if shown.returncode or not words or shutil.which(words[0]):
        return None
    variable = next((name for name in _VARIABLES if os.environ.get(name, "").split()[:1] == words[:1]), None)
    if variable is None:
        step = "install that compiler, or name another one in the wrapper's variable, such as OMPI_CXX=g++"
        return UserError(f"{cxx} can't compile: it was built to call {words[0]}, which is not on PATH", step)
    what = f"{cxx} can't compile: it calls {words[0]}, which {variable} names and which is not on PATH"
    return UserError(what, f"`unset {variable}`, or install that compiler")
