"""Intel MPI: presets of each collective, by number, read once when the library starts.

`impi_info` lists how many there are, not what they do. A number that doesn't exist is taken for none, without a word
(ran on 2021.18); one that can't serve a call falls back as silently. 0 leaves the choice to the library.

Presets of several collectives share no start: some collectives consist of others and obey their presets. Allreduce by
3 and 5 took up to 2.4 times as long at 1 KiB where reduce and broadcast had preset 5 (2 ranks, 2021.18). Nor was a way
seen to change one inside a start: for broadcasts neither I_MPI_ADJUST_BCAST, set again, nor MPI_T's
MPIR_CVAR_USE_BCAST, …_LIST and …_COMPOSITION made a difference to a new communicator.
"""

import os
import re
import subprocess

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.library import AlgorithmSelection
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

_VARIABLE = re.compile(r"^I_MPI_ADJUST_(?P<operation>[A-Z_]+?) *$", re.MULTILINE)
_RANGE = re.compile(r"^ *range: *\d+-(?P<last>\d{1,3}) *$", re.MULTILINE)


def catalogue(mpi: Mpi) -> Catalogue:
    """Ask the impi_info that belongs to `mpi`."""
    if mpi.info is None:
        raise UserError(f"{mpi} has no impi_info, which lists its presets", "install the library whole")
    library = str(mpi.info.resolve().parent.parent / "lib")
    paths = os.pathsep.join(filter(None, (library, os.environ.get("LD_LIBRARY_PATH", ""))))
    answer = subprocess.run(
        [mpi.info, "-a"],
        capture_output=True,
        text=True,
        errors="replace",  # it writes Latin-1
        check=False,
        env={**os.environ, **dict(mpi.environment), "LD_LIBRARY_PATH": paths},
    )
    algorithms = read_presets(answer.stdout)
    if not algorithms:
        raise UserError(
            f"{mpi.info} lists no preset ({answer.stderr.strip() or 'it says nothing'})", f"look at `{mpi.info} -a`"
        )
    return Catalogue(mpi.kind, mpi.version, algorithms, name=mpi.name)


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """A separate start for each preset."""
    return AlgorithmSelection(() if info is None else _parameters(info))


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """The variable of the measurement."""
    return _parameters(info)


def read_presets(listed: str) -> dict[str, tuple[AlgorithmInfo, ...]]:
    """The presets of each collective that we measure, from what `impi_info -a` prints."""
    variables = list(_VARIABLE.finditer(listed))
    ends = [each.start() for each in variables[1:]] + [len(listed)]
    last_presets = {
        variable["operation"].lower(): int(listed_range["last"])
        for variable, end in zip(variables, ends, strict=True)
        if (listed_range := _RANGE.search(listed, variable.end(), end))
    }
    return {
        collective: tuple(
            AlgorithmInfo(collective, f"preset_{number}", str(number), (), aliases=(str(number),))
            for number in range(1, last_presets[collective] + 1)
        )
        for collective in COLLECTIVES
        if collective in last_presets
    }


def _parameters(info: AlgorithmInfo) -> Parameters:
    return ((f"I_MPI_ADJUST_{info.collective.upper()}", info.value),)
