"""Rules as an algorithm: the library's call in a launch whose collectives the preloaded library replaces.

Rules also choose among the library's algorithms call by call. The library's tuning files know the number of ranks and
the size. Rules also know the nodes and the ranks per node.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.library import AlgorithmSelection, Controls
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import FIRST, PRELOADED, RULES_CHECK, build, build_without_mpi
from timpani.native.mpi import Mpi
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
        check = build_without_mpi(mpi, programs=FIRST) / RULES_CHECK
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


_CONTROLS = "@"  # before each list of control variables (native/interpose/rules/rules.hpp)


def library_rule(mpi: Mpi, catalogue: Catalogue, collective: str, algorithm: Algorithm) -> str | None:
    """The algorithm with its control variables, as a rule names it; None if only a whole launch can be set to it."""
    info = _info(mpi, catalogue, collective, algorithm)
    if info is None:
        return None
    selection = LIBRARIES[mpi.kind].settings.selection(mpi, info, algorithm)
    at_call = _at_call(mpi, info, algorithm, selection)
    if not (selection.at_creation or at_call):
        return None
    # What is set at the start is checked in the running program: a variable that has its value needs no writing.
    started = tuple((name, int(value)) for name, value in selection.parameters if value.isdecimal())
    controls = (*started, *selection.at_creation)
    return f"{algorithm}{_CONTROLS}{_text(controls)}{_CONTROLS}{_text(at_call)}"


def start_settings(mpi: Mpi, rules: Path) -> dict[str, str]:
    """The environment variables that a program needs so that `rules` can choose among the algorithms of `mpi`.

    UserError if the rules are for another library or version, or if the environment sets one of these differently.
    """
    library = LIBRARIES[mpi.kind]
    named = list(_library_rules(rules.read_text(errors="replace")))
    catalogue = library.algorithms.catalogue(mpi) if named else Catalogue(mpi.kind, mpi.version, {}, name=mpi.name)
    settings: dict[str, str] = {}
    for collective, word in named:
        algorithm = Algorithm.parse(word.split(_CONTROLS)[0])
        if word != library_rule(mpi, catalogue, collective, algorithm):
            raise UserError(
                f"{rules}: {mpi} has no {collective} {word}, which is of another library or version",
                "write the rules anew from a campaign of this library",
            )
        selection = library.settings.selection(mpi, _info(mpi, catalogue, collective, algorithm), algorithm)
        settings |= {library.launcher.variable(name): value for name, value in selection.parameters}
    for name, value in settings.items():
        if os.environ.get(name, value) != value:
            raise UserError(
                f"{rules} needs {name}={value}, and the environment has {os.environ[name]}", f"unset {name}"
            )
    return settings


def _info(mpi: Mpi, catalogue: Catalogue, collective: str, algorithm: Algorithm) -> AlgorithmInfo | None:
    return catalogue.info(collective, algorithm) if algorithm.provider == mpi.kind else None


def _at_call(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm, selection: AlgorithmSelection) -> Controls:
    """What has to be set at each call: no parameter that keeps its default, and nothing that makes a measurement fail
    where the library would take another algorithm."""
    asked = dict(algorithm.parameters)
    kept = {each.control for each in info.parameters if each.name not in asked}
    unwanted = kept & dict(selection.at_creation).keys() | LIBRARIES[mpi.kind].settings.refusing_controls
    return tuple((name, value) for name, value in selection.at_call if name not in unwanted)


def _library_rules(text: str) -> Iterator[tuple[str, str]]:
    """The collective and the last word of each rule that chooses in the library; `text` has been checked."""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and _CONTROLS in words[-1]:
            yield words[0], words[-1]


def _text(controls: Controls) -> str:
    return ",".join(f"{name}={value}" for name, value in controls)
