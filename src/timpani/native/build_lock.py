"""One builder at a time for each folder of an unfinished build; builds in other folders do not wait."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = "lock"
"""The locked file in the folder, which holds the builder's process number. It is open for writing: NFS locks no other.
The system releases the lock even when the builder is killed."""

_PATIENCE = 0.5  # seconds of waiting before it is reported: whoever only removes a folder holds its lock for less
_POLL = 0.05  # seconds


@contextmanager
def held(folder: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Within, `folder` is there, empty but for the lock, and this process's alone; afterwards it is removed.

    `waiting` gets the number of the process that holds the folder, once this process has to wait for it.
    """
    descriptor = _acquire(folder, waiting)
    try:
        for left in folder.iterdir():  # by a builder that was killed
            if left.name != _LOCK:
                shutil.rmtree(left, ignore_errors=True)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Remove those of `folders` whose builder is gone. The lock of each is held while it is removed."""
    for folder in folders:
        try:
            descriptor = _open(folder)
        except OSError:  # its builder has just removed it
            continue
        try:
            if _try(descriptor) and _is_locked_file(descriptor, folder):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def _acquire(folder: Path, waiting: Callable[[str], None]) -> int:
    """The descriptor of the folder's lock, held. Where the lock file was removed meanwhile, try again."""
    while True:
        folder.mkdir(exist_ok=True)
        try:
            descriptor = _open(folder)
        except FileNotFoundError:
            continue
        try:
            _wait(descriptor, waiting)
            if _is_locked_file(descriptor, folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _wait(descriptor: int, waiting: Callable[[str], None]) -> None:
    until = time.monotonic() + _PATIENCE
    while not _try(descriptor):
        if time.monotonic() > until:
            waiting(os.pread(descriptor, 20, 0).decode(errors="replace") or "of unknown number")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return
        time.sleep(_POLL)


def _open(folder: Path) -> int:
    return os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_locked_file(descriptor: int, folder: Path) -> bool:
    """Whether the file behind `descriptor` is still the one in `folder`."""
    try:
        return os.path.samestat(os.fstat(descriptor), (folder / _LOCK).stat())
    except OSError:
        return False
