"""How a launcher of MPI programs hands variables to its ranks, on other nodes too."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.native.find import Kind, Mpi

_PRELOAD = "LD_PRELOAD"
_NEXT_PART = ":"  # between the programs of `mpirun -n 2 ./a : -n 2 ./b`; Open MPI's -x holds for one of them


def launcher_of(command: Sequence[str], mpis: Sequence[Mpi]) -> Mpi | None:
    """The library whose launcher `command` begins with; None where it is none of theirs."""
    found = shutil.which(command[0])
    if found is None:
        return None
    return next((mpi for mpi in mpis if mpi.mpirun.resolve() == Path(found).resolve()), None)


def handed(
    command: Sequence[str], kind: Kind | None, variables: Mapping[str, str], preloaded: str
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
    if kind == "openmpi":
        words = [word for item in given.items() for word in ("-x", "=".join(item))]
        parts = [part for word in rest for part in ([word, *words] if word == _NEXT_PART else [word])]
        return [first, *words, *parts], {}
    if kind == "mpich":
        return [first, *(word for item in given.items() for word in ("-genv", *item)), *rest], {}
    if Path(first).name == "srun":  # it splits what --export names at commas, so that it names only the library
        library = given.pop(_PRELOAD)
        return [first, f"--export=ALL,{_PRELOAD}={library}", *rest], given
    return list(command), given
