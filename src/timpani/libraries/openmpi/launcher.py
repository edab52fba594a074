"""Open MPI's mpirun, 4.1 and later; how its messages are counted; and the files that killed processes leave.

`mpirun --report-uri FILE` writes the job's number before any rank begins: `1050345472.0;tcp://…` in 4, whose upper 16
bits are in the names of all files of the job; `prterun-HOST-PID@0.0;tcp4://…` in 5, of which they are a hash. A file
that a process has open or mapped is never removed: numbers may repeat.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.library import Command, Counting, LaunchRequest, host_file
from timpani.libraries.openmpi.settings import components_of
from timpani.native.mpi import Mpi
from timpani.study.cell import ranks_per_node

HOST_WITH_SLOTS = "{} slots={}"

_HOSTS = "hosts.txt"
_VARIABLE_LIST = "mca_base_env_list"
_ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and yielding where there are more ranks than cores."""
    hosts = ("--hostfile", str(request.folder / _HOSTS)) if request.hosts else ()
    report = ("--report-uri", str(request.folder / REPORT)) if request.folder != Path() else ()
    count = ranks_per_node(request.placement)
    by = f"ppr:{count}:node" if count else request.placement
    if request.oversubscribed:
        # Open MPI 5.0 keeps ranks that it maps by core or socket on the first node, however many they are.
        by = "slot" if by in ("core", "socket") else by
        # Without yielding, a rank that waits keeps its core from the rank it waits for until the scheduler's tick.
        where = ["--map-by", f"{by}:OVERSUBSCRIBE", "--bind-to", "none"]
        where += arguments([("mpi_yield_when_idle", "1")])
    else:
        where = ["--map-by", by, "--bind-to", "core"]
    # To ranks on other nodes too, and not to the launcher: what is loaded before a library is not for it.
    exports = [part for item in request.environment.items() for part in export(*item)]
    return Command(
        argv=(
            *(str(mpi.mpirun), *report, *hosts, "-np", str(request.ranks), *where),
            *(*exports, *arguments(request.parameters), *request.arguments, *request.program),
        ),
        environment=_ALLOW_ROOT if os.geteuid() == 0 else {},
        files={_HOSTS: host_file(request.hosts, HOST_WITH_SLOTS)} if request.hosts else {},
    )


def arguments(parameters: Iterable[tuple[str, str]]) -> list[str]:
    """MCA parameters as mpirun takes them."""
    return [word for name, value in parameters for word in ("--mca", name, value)]


def export(name: str, value: str) -> tuple[str, ...]:
    """What hands a variable to the ranks of one program."""
    return "-x", f"{name}={value}"


def check_export(mpi: Mpi, command: Sequence[str], environment: Mapping[str, str]) -> None:
    """UserError if the user passes variables by Open MPI's list: 4.1 ends a start with `-x` then (4.1.4, observed)."""
    if (_VARIABLE_LIST in command or f"OMPI_MCA_{_VARIABLE_LIST}" in environment) and mpi.numbers < (5,):
        raise UserError(
            f"{mpi.title} refuses {_VARIABLE_LIST} together with -x, by which Timpani passes LD_PRELOAD",
            "pass your variables by -x",
        )


_ENABLE = ("pml_monitoring_enable", "1")


def counting(mpi: Mpi) -> Counting | None:
    """By MPI_T variables from 5.0 (ran on 5.0.11), into files only on 4.1 (ran on 4.1.4).

    None where the component is missing, as in builds for PyPI of 4.1: such a library would count nothing in silence.
    """
    if mpi.info is not None and "monitoring" not in components_of(mpi).get("pml", ()):
        return None
    if mpi.numbers >= (5,):
        return Counting((_ENABLE,), at_exit=False)
    output = (("pml_monitoring_enable_output", "3"), ("pml_monitoring_filename", "{prefix}"))
    return Counting((_ENABLE,), at_exit=True, output=output)


REPORT = "launcher.txt"
"""What the launcher says of itself, in the folder of a start."""

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where Open MPI keeps it
_LOCAL = "[0-9a-f]" * 4  # digits of the number within the family: 1 the program, then what it spawned
_OF_4 = re.compile(r"(?P<job>\d{1,10})\.0;", re.ASCII)
_OF_5 = re.compile(r"(?P<job>prterun-[\w.-]{1,255}-(?P<process>\d{1,10}))@0\.0;", re.ASCII)


def remove_remains(folder: Path) -> list[Path]:
    """Remove what is left of the job that was started in `folder`, once all its processes are gone; returns what."""
    try:
        uri = (folder / REPORT).read_text(errors="replace")
    except OSError:
        return []
    removed = [path for path in remains_of(uri, _SHARED_MEMORY, Path(tempfile.gettempdir())) if not _in_use(path)]
    for path in removed:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return removed


def remains_of(uri: str, shared_memory: Path, temporary: Path) -> list[Path]:
    """What this user's job that reported `uri` has in these two folders: shared memory, and what ranks meet by."""
    user = os.getuid()
    if match := _OF_4.match(uri):
        family = int(match["job"]) >> 16
        contacts = temporary.glob(f"ompi.*.{user}/pid.*/contact.txt")
        return [
            *shared_memory.glob(f"vader_segment.*.{user}.{family:x}{_LOCAL}.*"),
            *temporary.glob(f"ompi.*.{user}/jf.{family}"),
            *(each.parent for each in contacts if each.read_text(errors="replace").startswith(match[0])),
        ]
    if match := _OF_5.match(uri):
        family = _family(match["job"])
        return [
            *shared_memory.glob(f"sm_segment.*.{user}.{family:x}{_LOCAL}.*"),
            *(each.parent for each in temporary.glob(f"ompi.{match['process']}/pmix.*.{match['job']}@0")),
        ]
    return []


def _family(job: str) -> int:
    """16 bits of a job's name, as Open MPI 5 hashes it (opal/util/proc.h: OPAL_HASH_STR, folded)."""
    number = 0
    for character in job.encode():
        number = (number + character) * 1025 & 0xFFFFFFFF
        number ^= number >> 6
    number = number * 9 & 0xFFFFFFFF
    number ^= number >> 11
    number = number * 32769 & 0xFFFFFFFF
    return (number >> 16) ^ (number & 0xFFFF)


def _in_use(path: Path) -> bool:
    """Whether a process has `path`, or a file in it, open or mapped."""
    place = str(path)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if place in (folder / "maps").read_text(errors="replace"):
                return True
            if any(place in str(each.readlink()) for each in (folder / "fd").iterdir()):
                return True
        except OSError:  # it has just ended, or is another user's
            continue
    return False
