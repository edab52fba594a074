"""How a user makes an MPI library known to Timpani: what loads one here, and how its place is named."""

import shutil
from collections.abc import Iterator, Mapping

BY_PLACE = "name its folder with --mpi"


def ways_to_a_library(environment: Mapping[str, str], installation: str = "") -> str:
    """The next step for a user whose library was not found, or who wants another one.

    installation  the commands that install or load the library, if these may be needed
    """
    ways = [*_loading(environment), BY_PLACE, *([installation] if installation else [])]
    *others, last = ways
    return f"{', '.join(others)}, or {last}" if others else last


def _loading(environment: Mapping[str, str]) -> Iterator[str]:
    """The commands of what manages software here: modules, Spack, conda."""
    if {"LMOD_CMD", "MODULESHOME", "BASH_FUNC_module%%"} & environment.keys():
        yield "load its module (`module avail mpi`, `module load NAME`)"
    if "SPACK_ROOT" in environment or shutil.which("spack", path=environment.get("PATH")):
        yield "load its Spack package (`spack find mpi`, `spack load NAME`)"
    if {"CONDA_EXE", "CONDA_PREFIX"} & environment.keys():
        yield "activate its conda environment (`conda activate NAME`)"
