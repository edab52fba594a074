"""Rules as an algorithm: the library's call in a launch whose collectives the preloaded library replaces."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import PRELOADED, RULES_CHECK, build, build_without_mpi
from timpani.native.mpi import Mpi
from timpani.providers.library_rules import start_settings
from timpani.reading import read_bytes
from timpani.study.cell import OWN, RULES, Algorithm

BY_RULES = Algorithm(OWN, RULES)
"""What is compared with the default where a study names rules."""

_FIRST_WORD = b"timpani-rules"
_STEP = "`timpani rules` writes such a file"
_SPLITS_OR_EXPANDS = " :$"  # what the loader does with these in LD_PRELOAD (ld.so(8)); this can't be turned off


def replacing_library(mpi: Mpi) -> Path | None:
    """What is preloaded to replace collectives of `mpi`; None for a library that simulates, which brings its MPI."""
    return None if LIBRARIES[mpi.kind].launcher.simulates else build(mpi, programs=(PRELOADED,)) / "libtimpani.so"


def variables(mpi: Mpi, rules: Path | None, switches: Mapping[str, str]) -> dict[str, str]:
    """What the ranks' environment holds for `libtimpani.so`.

    switches  the switch of each node where it is known
    UserError when `rules` are none that it takes.
    """
    if rules is not None:
        _refuse_other_files(rules)
    library = replacing_library(mpi)
    if library is None:
        raise UserError(f"{mpi} has no library that could be preloaded", "choose Open MPI or MPICH (--mpi)")
    if set(str(library)) & set(_SPLITS_OR_EXPANDS):
        raise UserError(
            f"{library} can't be loaded before a program: the loader splits such a path, or expands it",
            "set XDG_CACHE_HOME to a folder without spaces, ':' and '$' in its path",
        )
    found = {"LD_PRELOAD": str(library)}
    if rules is not None:
        check = build_without_mpi(mpi, programs=(RULES_CHECK,)) / RULES_CHECK
        checked = subprocess.run([check, rules], capture_output=True, text=True, check=False)
        if checked.returncode != 0:
            raise UserError(checked.stderr.strip(), _STEP)
        found |= start_settings(mpi, rules) | {"TIMPANI_RULES": str(rules.resolve())}
    groups: dict[str, list[str]] = {}
    for node, switch in switches.items():
        groups.setdefault(switch, []).append(node)
    if len(groups) > 1:
        found["TIMPANI_GROUPS"] = ";".join(",".join(nodes) for nodes in groups.values())
    return found


def _refuse_other_files(rules: Path) -> None:
    """UserError where `rules` can't be a file of rules, before a program is compiled that checks each line."""
    try:
        text = read_bytes(rules, _STEP)
    except FileNotFoundError:
        raise UserError(f"there is no file {rules}", _STEP) from None
    if not text.lstrip(b" ").startswith(_FIRST_WORD):
        raise UserError(f"{rules} does not begin with '{_FIRST_WORD.decode()}'", _STEP)


def rules_selection(mpi: Mpi, rules: Path, switches: Mapping[str, str]) -> AlgorithmSelection:
    """How a launch replaces the library's collectives by `rules`."""
    return AlgorithmSelection(environment=variables(mpi, rules, switches))
