"""The processes that a campaign started on this computer: found by a mark in their environment, whatever session they
are in and whoever their parent is now."""

import fcntl
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.records import ENDINGS, LAUNCHES, read_records
from timpani.campaign.run.launch import TEMPORARY_KIND
from timpani.libraries.registry import LIBRARIES
from timpani.native.held_folder import remove_temporaries

MARK = "TIMPANI_START"
"""The variable that every process of a start has: the campaign's mark and the start's part, `MARK/0001-1`."""

_LEAVING_SECONDS = 2.0  # that processes of a launch that has ended may take to leave, and again after SIGTERM
_KILLED_SECONDS = 5.0  # that the kernel may take to end what was killed
_POLL_SECONDS = 0.05


class Processes:
    """What runs of a campaign, by the parts of its starts. `report` hears of what had to be ended."""

    def __init__(self, mark: str, report: Callable[[str], None]) -> None:
        """`mark` is the campaign's alone, a copy of its folder has another."""
        self._mark = mark
        self._report = report
        self._under_way: set[str] = set()

    def environment(self, part: str) -> dict[str, str]:
        """What marks the processes of a start."""
        return {MARK: f"{self._mark}/{part}"}

    @contextmanager
    def start(self, part: str) -> Iterator[None]:
        """A start is under way. Processes of earlier starts end before it begins; its own end before it returns."""
        self.end_earlier(_LEAVING_SECONDS)
        self._under_way.add(part)
        try:
            yield
        finally:
            self._under_way.remove(part)
            self.end_earlier(_LEAVING_SECONDS)

    def end_earlier(self, leaving: float = 0.0) -> None:
        """End the processes of starts that are not under way, after `leaving` seconds to exit voluntarily."""
        deadline = time.monotonic() + leaving
        while (found := self._earlier()) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        ended: dict[int, str] = {}
        for number, seconds in ((signal.SIGTERM, _LEAVING_SECONDS), (signal.SIGKILL, _KILLED_SECONDS)):
            deadline = time.monotonic() + seconds
            signalled: set[int] = set()  # once: launchers that get SIGTERM again stop removing what they made
            while found and time.monotonic() < deadline:
                for process in found.keys() - signalled:
                    with suppress(ProcessLookupError):
                        os.kill(process, number)
                signalled |= found.keys()
                ended |= found
                time.sleep(_POLL_SECONDS)
                found = self._earlier()
        for part, count in sorted(Counter(ended.values()).items()):
            were = "process was" if count == 1 else "processes were"
            self._report(f"{count} {were} still running of the start {part}, and killed")

    def _earlier(self) -> dict[int, str]:
        return {process: part for process, part in _marked(self._mark) if part not in self._under_way}


def _marked(mark: str) -> Iterator[tuple[int, str]]:
    """The processes with a mark and the part of the start that they belong to; not this one nor those above it."""
    wanted = f"{MARK}={mark}/".encode()
    above = set(_lineage(os.getpid()))
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in above:
            continue
        try:
            variables = (folder / "environ").read_bytes()
        except OSError:  # it has just ended, or is another user's
            continue
        place = variables.find(wanted)
        if place == 0 or (place > 0 and variables[place - 1] == 0):
            part = variables[place + len(wanted) :].partition(b"\0")[0]
            yield int(folder.name), part.decode(errors="replace")


def _lineage(process: int) -> Iterator[int]:
    """A process, its parent, and so on."""
    while process > 0:
        yield process
        try:
            fields = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return
        process = int(fields.rpartition(")")[2].split()[1])


def remove_leftovers(folder: Path, header: Header) -> list[Path]:
    """Remove the temporary folders of all dead launches, and what else launches of this campaign left; returns them.

    Of a campaign that is being measured only the next start knows which launches are dead.
    """
    removed = remove_temporaries(TEMPORARY_KIND)
    if header.mpi.kind in LIBRARIES and not _is_measured(folder):
        records = read_records(folder, header)
        ended = {line["part"] for line in records.values(ENDINGS)}
        for part in (line["part"] for line in records.values(LAUNCHES) if line["part"] not in ended):
            removed += LIBRARIES[header.mpi.kind].launcher.remove_remains(folder / "launches" / part)
    return removed


def _is_measured(folder: Path) -> bool:
    """Whether a process measures into `folder`, or nobody can know since there are no locks."""
    try:
        with (folder / "lock").open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
