"""Intel MPI, 2021 and later: from oneAPI, or the wheels impi-rt and impi-devel."""

import re
from pathlib import Path

from timpani.libraries import hydra
from timpani.libraries.intel import algorithms
from timpani.libraries.intel.adjust_file import AdjustFile
from timpani.libraries.intel.settings import (
    OVERRIDES,
    command,
    control,
    installed_settings,
    names_of_control,
    offered_variants,
    settings_in_force,
)
from timpani.libraries.library import (
    Identity,
    Library,
    LibraryAlgorithms,
    LibraryFiles,
    LibraryLauncher,
    LibrarySettings,
)


def _environment(launcher: Path) -> dict[str, str]:
    """What oneAPI's `setvars.sh` would set: its compilers and its ranks ask where the library lies."""
    return {"I_MPI_ROOT": str(launcher.resolve().parent.parent)}


LIBRARY = Library(
    kind="intel",
    name="Intel MPI",
    identity=Identity(
        launcher_says=re.compile(r"Intel\(R\) MPI Library for Linux\* OS, Version (?P<version>\d[\d.]*)"),
        wrappers=("mpigxx", "mpicxx"),
        wrapper_question="-v",
        wrapper_says=re.compile(r"Intel\(R\) MPI Library (?P<version>\d[\d.]*)"),
        reports=re.compile(r"^Intel\(R\) MPI Library (?P<version>\d[\d.]*)"),
        info="impi_info",
        installation="`pip install impi-devel` into this environment, or oneAPI's intel-oneapi-mpi-devel",
        development="`pip install impi-devel`, or oneAPI's intel-oneapi-mpi-devel",
        launcher="mpiexec.hydra",  # its mpirun takes the first mpiexec.hydra on PATH, which may be MPICH's
        environment=_environment,
    ),
    launcher=LibraryLauncher(
        command=command,
        start_seconds=0.4,
        host_with_slots=hydra.HOST_WITH_SLOTS,
        export=hydra.export,
    ),
    algorithms=LibraryAlgorithms(
        catalogue=algorithms.catalogue,
        offered_variants=offered_variants,
    ),
    settings=LibrarySettings(
        selection=algorithms.selection,
        setting=algorithms.setting,
        overrides=OVERRIDES,
        in_force=settings_in_force,
        control=control,
        names_of_control=names_of_control,
        installed=installed_settings,
    ),
    files=LibraryFiles(
        tuning=(AdjustFile(),),
    ),
)
