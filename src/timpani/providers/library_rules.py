"""Rules that choose among the library's algorithms call by call, through `libtimpani.so`.

The library's tuning files know the number of ranks and the size. Rules also know the nodes and the ranks per node.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.library import AlgorithmSelection, Controls
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm

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
