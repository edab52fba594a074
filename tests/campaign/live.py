"""A `timpani run` in a separate process: its ranks are found and its record is read while it measures."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.records import read_records

SECONDS = 1800  # after which, also on a busy machine, what a test waits for is not coming

_QUIET = "from timpani.native import announce; announce._SILENT_SECONDS = 1e6"  # as in tests/conftest.py
MAIN = (sys.executable, "-c", f"{_QUIET}; from timpani.cli import main; main()")


def timpani(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run `timpani` to its end. No test's run may end in a traceback."""
    done = subprocess.run([*MAIN, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
    assert "Traceback" not in done.stderr, done.stderr
    return done


class Live:
    """A run under way; what is left of it is ended with the `with` block."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = ("run", *arguments, "-o", str(folder))
        self.process = subprocess.Popen(
            [*MAIN, *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def launcher(self) -> int:
        """The process that starts the ranks."""
        return next(children(self.process.pid))

    def ranks(self) -> list[int]:
        return ranks_of(self.process.pid)

    def until(self, ready: Callable[[], object]) -> None:
        """Wait until `ready`, while the run continues."""
        wait_until(lambda: ready() or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise AssertionError(f"the run ended early: {self.process.communicate()}")

    def in_a_cell(self) -> bool:
        """Whether a cell has started and no cell has ended in the newest launch."""
        records = sorted(self.folder.glob("launches/*/samples.jsonl"))
        return bool(records) and in_first_cell(records[-1])

    def end(self) -> "subprocess.CompletedProcess[str]":
        """Wait for the run's own end."""
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        assert "Traceback" not in stderr, stderr
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, stdout, stderr)


def ranks_of(pid: int) -> list[int]:
    """The processes of the ranks that `pid` started; simulated ones share one, of SimGrid's program."""
    return [each for each in descendants(pid) if name_of(each) in ("timpani-measure", "smpimain")]


def in_first_cell(record: Path) -> bool:
    """Whether a cell has started and no cell has ended in a launch's raw record."""
    lines = record.read_text().splitlines() if record.exists() else []
    return len(lines) == 2 and "begin" in lines[1]


def results(folder: Path) -> list[dict[str, Any]]:
    """The lines of results.jsonl."""
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def starts(folder: Path) -> list[dict[str, Any]]:
    """Each start of the MPI program with how it ended and what it recorded."""
    return read_records(folder, read_header(folder)).launches


def keys(folder: Path) -> list[tuple[Any, ...]]:
    """What names each result: its cell and launch, which no two results may share."""
    names = ("collective", "algorithm", "parameters", "ranks", "message_bytes", "launch")
    found = [tuple(line[name] for name in names) for line in results(folder)]
    assert len(found) == len(set(found)), "a cell was recorded twice in one launch"
    return found


def wait_until(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not ready():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def children(pid: int) -> Iterator[int]:
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):  # it, or one of its threads, has just ended
        return
    for text in lists:
        yield from map(int, text.split())


def descendants(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from descendants(child)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
