"""SimGrid, whose MPI runs programs on machines that it simulates, and is used only where one is named."""

import re

from timpani.libraries.library import Identity, Library, LibraryAlgorithms, LibraryLauncher, LibrarySettings
from timpani.libraries.simgrid import algorithms, launcher
from timpani.native.packages import install_command

_SAYS = re.compile(r"SimGrid version (?P<version>\d\S*)")

LIBRARY = Library(
    kind="simgrid",
    name="SimGrid",
    identity=Identity(
        launcher_says=_SAYS,
        wrappers=("smpicxx",),
        wrapper_question="--version",
        wrapper_says=_SAYS,
        info="smpirun",
        installation=install_command("libsimgrid-dev"),
        development=install_command("libsimgrid-dev"),
    ),
    launcher=LibraryLauncher(
        command=launcher.command,
        start_seconds=0.2,
        host_with_slots="{}:{}",
        parameter=lambda name, value: tuple(launcher.arguments([(name, value)])),
        simulates=True,
    ),
    algorithms=LibraryAlgorithms(
        catalogue=algorithms.catalogue,
        same_while_eager=algorithms.SAME_WHILE_EAGER,
        stand_ins=algorithms.STAND_INS,
    ),
    settings=LibrarySettings(
        selection=algorithms.selection,
        setting=algorithms.setting,
        overrides=re.compile(r"SMPI_(?!PRETEND)\w+"),
    ),
)
