"""MPICH, 4 and later."""

import re

from timpani.libraries import hydra
from timpani.libraries.library import Identity, Library
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
from timpani.libraries.mpich.tree_file import CompositionsFile, SharedMemoryFile, TreeFile

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
        installation="`pip install mpich` into this environment or `apt install mpich libmpich-dev`",
        development="`apt install libmpich-dev`, or your cluster's module with MPICH's compilers",
    ),
    command=command,
    start_seconds=0.3,
    export=hydra.export,
    host_with_slots=hydra.HOST_WITH_SLOTS,
    slurm_interface="pmi2",
    catalogue=algorithms.catalogue,
    selection=algorithms.selection,
    setting=algorithms.setting,
    refusing_controls=algorithms.REFUSING_CONTROLS,
    overrides=OVERRIDES,
    control=control,
    settings_in_force=settings_in_force,
    without_own_files=without_own_files,
    offered_variants=offered_variants,
    eager_limits=eager_limits,
    tuning_files=(TreeFile(), CompositionsFile()),
    checked_files=(SharedMemoryFile(),),
)
