"""Files that Open MPI leaves on this computer when its processes are killed, known by what its launcher said of itself.

`mpirun --report-uri FILE` writes the job's number before any rank begins: `1050345472.0;tcp://…` in 4, whose upper 16
bits are in the names of all files of the job; `prterun-HOST-PID@0.0;tcp4://…` in 5, of which they are a hash. A file
that a process has open or mapped is never removed: numbers may repeat.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

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
