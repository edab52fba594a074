"""How a launcher of MPI programs hands variables to its ranks, on other nodes too."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES

_PRELOAD = "LD_PRELOAD"
_NEXT_PART = ":"  # between the programs of `mpirun -n 2 ./a : -n 2 ./b`


def handed(
    command: Sequence[str], kind: str | None, variables: Mapping[str, str], preloaded: str
) -> tuple[list[str], dict[str, str]]:
    """The command, and what to add to the environment, by which all ranks get `variables`.

    kind       whose launcher it begins with; None for another program
    preloaded  what LD_PRELOAD holds already: it stays, behind ours

    A launcher itself is not preloaded where it can be told apart from its ranks: it has nothing to replace. What the
    command itself preloads stays too, behind ours; UserError where it does so by words that are not understood.
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
    rest = [_with_own(word, given[_PRELOAD]) for word in rest]
    if Path(first).name == "srun":  # it splits what --export names at commas, so that it names only the library
        loaded = given.pop(_PRELOAD)
        return [first, f"--export=ALL,{_PRELOAD}={loaded}", *rest], given
    return [first, *rest], given


def _path(*libraries: str) -> str:
    return ":".join(filter(None, libraries))


def _parts(words: Sequence[str]) -> list[list[str]]:
    """The programs of one command, each with the separator behind it."""
    parts: list[list[str]] = [[]]
    for word in words:
        parts[-1].append(word)
        if word == _NEXT_PART:
            parts.append([])
    return parts


def _exported(
    words: Sequence[str], export: Callable[[str, str], tuple[str, ...]], given: Mapping[str, str]
) -> list[str]:
    """The launcher's words that hand `given` to the ranks, and `words` without what they preload by the same words."""
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
    handed_over = [word for item in all_given.items() for word in export(*item)]
    return [*handed_over, *(_with_own(word, all_given[_PRELOAD]) for word in rest)]


def _with_own(word: str, libraries: str) -> str:
    """A word of the command, with `libraries` first where it is `LD_PRELOAD=…`, as `env` takes it."""
    if word.startswith(f"{_PRELOAD}=") and not any(map(str.isspace, word)):
        return f"{_PRELOAD}={_path(libraries, word.removeprefix(f'{_PRELOAD}='))}"
    if word == _PRELOAD or f"{_PRELOAD}=" in word:
        raise UserError(
            f"the command sets {_PRELOAD} ({word}), so that libtimpani.so would not be loaded",
            f"leave that out and set {_PRELOAD} in the environment of `timpani preload`, which keeps it",
        )
    return word
