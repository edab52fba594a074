"""MPICH, 4 and later."""

import re

from timpani.libraries import hydra
from timpani.libraries.library import (
    Identity,
    Library,
    LibraryAlgorithms,
    LibraryFiles,
    LibraryLauncher,
    LibrarySettings,
)
from timpani.libraries.mpich import algorithms
from timpani.libraries.mpich.settings import (
    OVERRIDES,
    command,
    control,
    eager_limits,
    offered_variants,
    settings_in_force,
    without_own_files,
)
from timpani.libraries.mpich.tree_file import CompositionsFile, TreeFile
from timpani.native.packages import install_command

LIBRARY = Library(
    kind="mpich",
    name="MPICH",
    identity=Identity(
        launcher_says=re.compile(r"HYDRA build details:\s+Version:\s+(?P<version>\d\S*)"),
        wrappers=("mpicxx", "mpic++"),
        wrapper_question="-v",
        wrapper_says=re.compile(r"for MPICH version (?P<version>\d\S*)"),
        reports=re.compile(r"^MPICH Version:\s*(?P<version>\d\S*)"),
        info="mpichversion",
        installation="`pip install mpich` into this environment or " + install_command("mpich", "libmpich-dev"),
        development=f"{install_command('libmpich-dev')}, or your cluster's module with MPICH's compilers",
    ),
    launcher=LibraryLauncher(
        command=command,
        start_seconds=0.3,
        host_with_slots=hydra.HOST_WITH_SLOTS,
        export=hydra.export,
        slurm_interface="pmi2",
    ),
    algorithms=LibraryAlgorithms(
        catalogue=algorithms.catalogue,
        offered_variants=offered_variants,
        eager_limits=eager_limits,
    ),
    settings=LibrarySettings(
        selection=algorithms.selection,
        setting=algorithms.setting,
        overrides=OVERRIDES,
        refusing_controls=algorithms.REFUSING_CONTROLS,
        in_force=settings_in_force,
        without_own_files=without_own_files,
        control=control,
    ),
    files=LibraryFiles(
        tuning=(TreeFile(), CompositionsFile()),
    ),
)
