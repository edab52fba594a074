"""SimGrid, whose MPI runs programs on machines that it simulates, and is used only where one is named.

Its smpirun simulates the ranks of a machine that a platform file describes in one process. It names its algorithms
where it refuses a name, and takes one for each start. `default` is its selector `ompi`, which decides as Open MPI does.
Its names stay as they are.
"""

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameters
from timpani.libraries.library import (
    AlgorithmSelection,
    Command,
    Identity,
    LaunchRequest,
    Library,
    LibraryAlgorithms,
    LibraryLauncher,
    LibrarySettings,
)
from timpani.native.cache import temporary_folder
from timpani.native.mpi import Mpi
from timpani.native.packages import install_command
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="zone" routing="Full"><host id="host" speed="1Gf"/></zone></platform>
"""
_ANSWER = re.compile(r"Valid algorithms: (?P<names>[^.]+)\.")
_RENAMED = {"default": "smpi_default"}  # Timpani uses `default` for what runs unforced
_NOT_OFFERED = ("ompi", "automatic")  # the first is `default`; the second tries all the others, one after another

STAND_INS = {
    ("bcast", "openmpi/basic_linear"): "simgrid/flattree",
    ("bcast", "openmpi/binary_tree"): "timpani/binary:segment_bytes=0",
    ("bcast", "openmpi/knomial"): "timpani/knomial",
    ("bcast", "openmpi/chain"): "timpani/chain:fanout=4",
    ("bcast", "openmpi/split_binary_tree"): "timpani/split_binary:segment_bytes=0",
    ("bcast", "openmpi/scatter_allgather_ring"): "simgrid/scatter_LR_allgather",
    ("scatter", "openmpi/basic_linear"): "simgrid/ompi_basic_linear",
    ("scatter", "openmpi/binomial"): "simgrid/ompi_binomial",
    ("scatter", "openmpi/linear_nb"): "simgrid/ompi_linear_nb",
    ("reduce", "openmpi/linear"): "simgrid/ompi_basic_linear",
    ("reduce", "openmpi/chain"): "simgrid/ompi_chain",
    ("reduce", "openmpi/binary"): "simgrid/ompi_binary",
}
"""The stand-in for an algorithm of Open MPI, whose decisions are the default: SimGrid's version of it, or Timpani's."""

SAME_WHILE_EAGER = {"scatter": ("ompi_basic_linear", "ompi_linear_nb")}
"""Both send each block from the root in the order of ranks, one with MPI_Send and one with MPI_Isend."""


def catalogue(mpi: Mpi) -> Catalogue:
    """Ask smpirun about each collective; those that it lets nobody choose for have no algorithms."""
    algorithms = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "platform.xml").write_text(_PLATFORM)
        (Path(folder) / "hosts").write_text("host\n")
        for collective in COLLECTIVES:
            names = [name for name in _listed_names(mpi, collective, folder) if name not in _NOT_OFFERED]
            if names:
                algorithms[collective] = tuple(
                    AlgorithmInfo(collective, _RENAMED.get(name, name), name, ()) for name in names
                )
    if not algorithms:
        raise UserError(f"{mpi} lists no algorithms", f"install SimGrid whole: {install_command('libsimgrid-dev')}")
    return Catalogue(mpi.kind, mpi.version, algorithms, STAND_INS, mpi.name)


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """A separate start for each algorithm."""
    return AlgorithmSelection(() if info is None else (_parameter(info),))


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """The parameter of the measurement."""
    return (_parameter(info),)


def _parameter(info: AlgorithmInfo) -> tuple[str, str]:
    return f"smpi/{info.collective}", info.value


def _listed_names(mpi: Mpi, collective: str, folder: str) -> list[str]:
    """The names that it lists when it is asked for an algorithm that it can't have."""
    answer = subprocess.run(
        [
            *(str(mpi.mpirun), "-np", "1", "-platform", "platform.xml", "-hostfile", "hosts"),
            *(f"--cfg=smpi/{collective}:?", "/bin/true"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    match = _ANSWER.search(answer.stdout + answer.stderr)
    return match["names"].split(", ") if match else []


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
    assert request.platform, "a campaign without a platform is refused"
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
        command=command,
        start_seconds=0.2,
        host_with_slots="{}:{}",
        parameter=lambda name, value: tuple(arguments([(name, value)])),
        simulates=True,
    ),
    algorithms=LibraryAlgorithms(
        catalogue=catalogue,
        same_while_eager=SAME_WHILE_EAGER,
        stand_ins=STAND_INS,
    ),
    settings=LibrarySettings(
        selection=selection,
        setting=setting,
        overrides=re.compile(r"SMPI_(?!PRETEND)\w+"),
    ),
)
