"""SimGrid's smpirun: the ranks of a machine that a platform file describes, simulated in one process."""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.native.cache import temporary_folder
from timpani.native.mpi import Mpi

_HOSTS = "hosts.txt"
_SETTINGS = (
    "--cfg=smpi/simulate-computation:no",  # only messages take time: what this computer's cores are like doesn't enter
    "--cfg=smpi/wtime:0",  # nor does reading the clock
    "--cfg=smpi/coll-selector:ompi",  # what runs where no algorithm is forced: Open MPI's decisions
    "--log=root.thresh:warning",
)
_PAIRWISE = "--cfg=smpi/alltoallv:ring"
"""SimGrid's name of the exchange that Open MPI calls pairwise."""


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Each rank on its host of the platform. Nothing of the program is a rank's own, so it is loaded once for all."""
    if request.platform is None:
        raise UserError("SimGrid simulates, and can't measure this computer", "name a platform, --on simgrid:NAME")
    argv = (
        *(str(mpi.mpirun), "-np", str(request.ranks), "-no-privatize"),
        *("-platform", str(unsplit(request.platform)), "-hostfile", str(unsplit(request.folder / _HOSTS)), *_SETTINGS),
        *((_PAIRWISE,) if _breaks_in_pairs(request.ranks) else ()),
        *arguments(request.parameters),
        *(str(unsplit(Path(word))) for word in request.program),  # the program, its plan and its record
    )
    by_rank = "".join(f"{host}\n" for host in request.simulated_hosts)
    return Command(argv=argv, environment=request.environment, files={_HOSTS: by_rank})


def arguments(parameters: Iterable[tuple[str, str]]) -> list[str]:
    """SimGrid's settings as smpirun takes them."""
    return [f"--cfg={name}:{value}" for name, value in parameters]


def _breaks_in_pairs(ranks: int) -> bool:
    """Whether SimGrid (3.32) ends the program at the first alltoallv of `ranks` ranks.

    Where Open MPI exchanges pairwise, of 2 and 3, 64 to 127, and 256 and more ranks, it takes another algorithm
    in place of that which takes powers of two only.
    """
    return (ranks < 4 or 64 <= ranks < 128 or ranks >= 256) and ranks.bit_count() != 1


_SPLIT = re.compile(r"[\s,*?\[\]]")


def splits(text: str) -> bool:
    """Whether smpirun, a shell script, would take `text` for several words or for a pattern."""
    return bool(_SPLIT.search(text))


def unsplit(path: Path) -> Path:
    """Another path of the same file that smpirun leaves whole, through a link among the temporary files; `path` itself
    where smpirun does that already. The file need not exist yet."""
    if not splits(str(path)):
        return path
    path = path.absolute()
    # One link for all that is in a folder: campaigns have a folder for each start.
    linked = next(each for each in (*reversed(path.parents), path) if not splits(str(path.relative_to(each))))
    ending = "" if splits(linked.suffix) else linked.suffix
    link = temporary_folder() / f"{hashlib.sha256(str(linked).encode()).hexdigest()[:16]}{ending}"
    if splits(str(link)):
        raise UserError(
            f"smpirun would split {str(path)!r}, and a link to it in {link.parent} too",
            "set TMPDIR to a folder without spaces, commas and wildcards",
        )
    with suppress(FileExistsError):  # of an earlier start, or of one at the same time: the name shows the target
        link.symlink_to(linked)
    return link / path.relative_to(linked)
