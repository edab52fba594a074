"""How launchers of MPI programs pass variables to their ranks, including those on other nodes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES

_PRELOAD = "LD_PRELOAD"
_VARIABLE_LIST = "mca_base_env_list"
"""Open MPI's parameter for variables of all ranks. Version 5 drops those that `-x` gives too (5.0.11, observed)."""

_NEXT_PART = ":"  # between the programs of `mpirun -n 2 ./a : -n 2 ./b`


def pass_variables(
    command: Sequence[str], kind: str | None, variables: Mapping[str, str], preloaded: str
) -> tuple[list[str], dict[str, str]]:
    """The command, and the additions to the environment, with which all ranks get `variables`.

    kind       the library whose launcher the command starts with; None for another program
    preloaded  the current LD_PRELOAD: it is kept, after Timpani's library

    A launcher itself is not preloaded if it can be distinguished from its ranks. Libraries that the command itself
    preloads are kept, after Timpani's; UserError if the command preloads in an unknown way.
    """
    if Path(command[0]).name == "srun" and "," in variables[_PRELOAD]:
        raise UserError(
            f"srun would cut {variables[_PRELOAD]} at its commas",
            "set XDG_CACHE_HOME to a folder without commas in its path",
        )
    given = {**variables, _PRELOAD: _path(variables[_PRELOAD], preloaded)}
    first, *rest = command
    library = LIBRARIES[kind] if kind else None
    if library and library.export:
        parts = _parts(rest) if library.exports_by_part else [rest]
        return [first, *chain.from_iterable(_exported(part, library.export, given) for part in parts)], {}
    rest = _with_own(rest, given[_PRELOAD])
    if Path(first).name == "srun":  # it splits values of --export at commas, so only the library is passed
        loaded = given.pop(_PRELOAD)
        return [first, f"--export=ALL,{_PRELOAD}={loaded}", *rest], given
    return [first, *rest], given


def _path(*libraries: str) -> str:
    return ":".join(filter(None, libraries))


def _parts(words: Sequence[str]) -> list[list[str]]:
    """The programs of one command, each with the separator after it."""
    parts: list[list[str]] = [[]]
    for word in words:
        parts[-1].append(word)
        if word == _NEXT_PART:
            parts.append([])
    return parts


def _exported(
    words: Sequence[str], export: Callable[[str, str], tuple[str, ...]], given: Mapping[str, str]
) -> list[str]:
    """The launcher's options that pass `given` to the ranks, and `words` without their own preloads."""
    *leading, name = export(_PRELOAD, "")
    theirs: list[str] = []
    rest: list[str] = []
    position = 0
    while position < len(words):
        end = position + len(leading)
        if list(words[position:end]) == leading and end < len(words) and words[end].startswith(name):
            theirs.append(words[end].removeprefix(name))
            position = end + 1
        else:
            rest.append(words[position])
            position += 1
    all_given = {**given, _PRELOAD: _path(given[_PRELOAD], *theirs)}
    exported = [word for item in all_given.items() for word in export(*item)]
    return [*exported, *_with_own(rest, all_given[_PRELOAD])]


def _with_own(words: Sequence[str], libraries: str) -> list[str]:
    """The words of the command, with `libraries` first in each `LD_PRELOAD=…`, as `env` takes it."""
    return [_preloading(before, word, libraries) for before, word in pairwise(["", *words])]


def _preloading(before: str, word: str, libraries: str) -> str:
    if word.startswith(f"{_PRELOAD}=") and before != _VARIABLE_LIST and not any(map(str.isspace, word)):
        return f"{_PRELOAD}={_path(libraries, word.removeprefix(f'{_PRELOAD}='))}"
    if word == _PRELOAD or f"{_PRELOAD}=" in word:
        raise UserError(
            f"the command sets {_PRELOAD} ({word}), so libtimpani.so would not be loaded",
            f"leave that out and set {_PRELOAD} in the environment of `timpani preload`, which keeps it",
        )
    return word
