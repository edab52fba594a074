"""One start of the MPI program: watched from outside, ended when it hangs, its record read as it grows.

All that a launcher leaves in its folder for temporary files can be found when it is killed: Timpani holds the lock of
the folder, and so does the launcher. Where both are gone, whoever starts next, or `timpani check`, removes the folder.
Several starts run concurrently in one thread: each is a generator, which yields while it has to wait.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from time import monotonic
from typing import Literal, TypeVar

from timpani.campaign.folder.raw_record import RawLine, read_whole_lines, sign_of_life
from timpani.errors import UserError
from timpani.libraries.library import Command
from timpani.native.children import die_with_parent
from timpani.native.held_folder import temporary

_START_SECONDS = 30.0  # minimum time limit for the first line of a launch: busy machines start slowly
_GRACE_SECONDS = 5.0  # between the request to end and the kill
_OUTPUT_BYTES = 2000  # of a failed launch's output: enough for the first error of an MPI library


@dataclass(frozen=True)
class Ended:
    """How a launch ended.

    It finished (with its last line), died (without), hung (was silent for too long) or was stopped.
    """

    how: Literal["finished", "died", "hung", "stopped"]
    exit: int
    seconds: float
    output: str

    @property
    def failure(self) -> str:
        """How it ended, and what it printed first unless that is about its being ended."""
        return "showed no sign of life" if self.how == "hung" else f"{self.how}: {one_line(self.output)}"


def follow(
    command: Command,
    folder: Path,
    timeout: float,
    stop: Callable[[], bool],
    take: Callable[[RawLine], None],
    without: Collection[str] = (),
    inherited: Collection[int] = (),
) -> Generator[None, None, Ended]:
    """Start `command`, its files in `folder`, and give each line of `folder`/samples.jsonl to `take` as it is written.

    Yields while there is nothing to take; closing it ends the launch.

    The launch is ended when it shows no sign of life for `timeout` seconds (30 at least before the first line) or
    `stop()` turns true; and by the kernel should this process be killed. What it prints goes to `folder`/output.txt.
    `without` names what is taken out of the environment; the launcher gets the descriptors `inherited`.
    """
    began = last = monotonic()
    record = folder / "samples.jsonl"
    for name, text in command.files.items():
        (folder / name).write_text(text)
    process = _start(command, folder / "output.txt", without, inherited)
    how: Literal["finished", "died", "hung", "stopped"] | None = None
    position = last_sign = 0
    whole = False
    try:
        while how is None:
            running = process.poll() is None
            lines, position = read_whole_lines(record, position)
            if (sign := sign_of_life(folder)) != last_sign:
                last, last_sign = monotonic(), sign
            for line in lines:
                last = monotonic()
                whole = whole or "end" in line.values
                take(line)
            if not running:
                how = "finished" if whole and process.returncode == 0 else "died"
            elif stop():
                how = "stopped"
            elif monotonic() - last > (timeout if position else max(timeout, _START_SECONDS)):
                how = "hung"
            elif not lines:
                yield
    finally:
        _end(process)
    for line in read_whole_lines(record, position)[0]:  # written between the last look and the end
        take(line)
    return Ended(how, process.returncode, monotonic() - began, tail(folder / "output.txt"))


def _start(
    command: Command, output: Path, without: Collection[str], inherited: Collection[int]
) -> "subprocess.Popen[bytes]":
    with output.open("wb") as file:
        try:
            return subprocess.Popen(
                command.argv,
                env={name: value for name, value in os.environ.items() if name not in without}
                | dict(command.environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=inherited,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise UserError(
                f"{command.argv[0]} can't be started ({error.strerror})", "`timpani doctor` may know why"
            ) from None


def tail(path: Path) -> str:
    """The last of what a launch printed, without blank lines and the rules that MPI libraries draw."""
    lines = path.read_bytes()[-_OUTPUT_BYTES:].decode(errors="replace").splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip(" -=*\t"))


def one_line(output: str) -> str:
    """The first sentence of what a launch printed: lines that begin with a small letter continue the one before."""
    lines = [line.strip() for line in output.splitlines()]
    following = takewhile(lambda line: line[:1].islower(), lines[1:])
    return " ".join([*lines[:1], *following]) or "it printed nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


TEMPORARY_KIND = "launches"
_MAX_PATH_CHARACTERS = 60
"""Characters of the system's folder for temporary files. Below the launch's folder launchers may open sockets, whose
paths have at most 107 characters."""


@contextmanager
def launch_temporary(local: bool) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Yields variables of the launch's environment, and descriptors that its launcher inherits.

    Both are empty without a folder: where its path would be too long, and where the launch is not `local`, since
    processes on other computers would look for this computer's folder there.
    """
    if not local or len(tempfile.gettempdir()) > _MAX_PATH_CHARACTERS:
        yield {}, ()
        return
    with temporary(TEMPORARY_KIND) as (folder, lock):
        yield {"TMPDIR": str(folder)}, (lock,)


_POLL_SECONDS = 0.02

Result = TypeVar("Result")

Task = Generator[None, None, None]
"""Work that continues with each `next` and yields while it waits for an external event."""


def run_concurrently(tasks: Iterator[Task], limit: int) -> None:
    """Take all `tasks` to their end, `limit` under way at any time; an error in one closes the others."""
    under_way = list(islice(tasks, limit))
    try:
        while under_way:
            continuing = [each for each in under_way if _continues(each)]
            if len(continuing) == len(under_way):
                time.sleep(_POLL_SECONDS)
            under_way = [*continuing, *islice(tasks, limit - len(continuing))]
    finally:
        for each in under_way:
            each.close()


def run_to_end(task: Generator[None, None, Result]) -> Result:
    """Take one task to its end; returns what it does."""
    while True:
        try:
            next(task)
        except StopIteration as end:
            result: Result = end.value
            return result
        time.sleep(_POLL_SECONDS)


def _continues(task: Task) -> bool:
    return next(task, task) is None
