"""How a launcher of MPI programs hands variables to its ranks, on other nodes too."""

from collections.abc import Mapping, Sequence
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

    A launcher itself is not preloaded where it can be told apart from its ranks: it has nothing to replace.
    """
    if Path(command[0]).name == "srun" and "," in variables[_PRELOAD]:
        raise UserError(
            f"srun would cut {variables[_PRELOAD]} at its commas",
            "set XDG_CACHE_HOME to a folder without commas in its path",
        )
    given = {**variables, _PRELOAD: ":".join(filter(None, (variables[_PRELOAD], preloaded)))}
    first, *rest = command
    library = LIBRARIES[kind] if kind else None
    if library and library.export:
        words = [word for item in given.items() for word in library.export(*item)]
        again = words if library.exports_by_part else []
        parts = [part for word in rest for part in ([word, *again] if word == _NEXT_PART else [word])]
        return [first, *words, *parts], {}
    if Path(first).name == "srun":  # it splits what --export names at commas, so that it names only the library
        loaded = given.pop(_PRELOAD)
        return [first, f"--export=ALL,{_PRELOAD}={loaded}", *rest], given
    return list(command), given
