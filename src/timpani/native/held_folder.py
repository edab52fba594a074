"""A folder that one process holds at a time, and that anybody may remove once its holder is gone."""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from timpani.errors import cannot_lock
from timpani.native.cache import temporary_folder

_LOCK = "lock"
"""The locked file in the folder, which contains the holder's process number. It is open for writing, as NFS demands.
The system releases the lock even when the holder is killed."""

_PATIENCE = 0.5  # seconds of waiting before it is reported: whoever only removes a folder holds its lock for less
_POLL = 0.05  # seconds


@contextmanager
def held(folder: Path, waiting: Callable[[str], None]) -> Iterator[int]:
    """Within, `folder` is there, empty but for the lock, and this process's alone; afterwards it is removed.

    `waiting` gets the number of the process that holds the folder, once this process has to wait for it. Yields the
    descriptor of the lock: a program that inherits it holds the folder, too. FileNotFoundError without a folder above.
    """
    descriptor = _acquire(folder, waiting)
    try:
        for left in folder.iterdir():  # by a holder that was killed
            if left.name != _LOCK:
                shutil.rmtree(left, ignore_errors=True)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(folders: Iterable[Path]) -> list[Path]:
    """Remove those of `folders` whose holder is gone, and return them. The lock of each is held meanwhile."""
    removed = []
    for folder in folders:
        try:
            descriptor = _open(folder)
        except OSError:  # its holder has just removed it
            continue
        try:
            if _try(descriptor, folder) and _is_locked_file(descriptor, folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
        finally:
            os.close(descriptor)
    return removed


@contextmanager
def temporary(kind: str) -> Iterator[tuple[Path, int]]:
    """A new folder among this user's temporary files, and the descriptor of its lock; afterwards it is removed.

    kind  what such folders are for, in the name of the folder that holds them
    """
    above = _temporaries(kind)
    try:
        with ExitStack() as stack:
            while True:
                folder = above / secrets.token_hex(4)
                with suppress(FileNotFoundError):  # another process has just removed the folder above
                    lock = stack.enter_context(held(folder, lambda process: None))
                    break
                above = _temporaries(kind)
            yield folder, lock
    finally:
        _remove_empty(above)


def remove_temporaries(kind: str) -> list[Path]:
    """Remove the temporary folders of `kind` whose holders were killed; returns them."""
    above = _temporaries(kind)
    removed = remove_abandoned(above.iterdir())
    _remove_empty(above)
    return removed


def _temporaries(kind: str) -> Path:
    return temporary_folder(f"timpani-{kind}")


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # something else is in it
        folder.rmdir()


def _acquire(folder: Path, waiting: Callable[[str], None]) -> int:
    """The descriptor of the folder's lock, held. Where the lock file was removed meanwhile, try again."""
    while True:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:
            if folder.exists() and not folder.is_dir():
                raise
            continue  # its holder removed it while mkdir looked whether it is a folder
        try:
            descriptor = _open(folder)
        except FileNotFoundError:
            continue
        try:
            _wait(descriptor, folder, waiting)
            if _is_locked_file(descriptor, folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _wait(descriptor: int, folder: Path, waiting: Callable[[str], None]) -> None:
    until = time.monotonic() + _PATIENCE
    while not _try(descriptor, folder):
        if time.monotonic() > until:
            waiting(os.pread(descriptor, 20, 0).decode(errors="replace") or "of unknown number")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return
        time.sleep(_POLL)


def _open(folder: Path) -> int:
    return os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)


def _try(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise cannot_lock(folder, error, "choose a folder on a local disk: set XDG_CACHE_HOME or TMPDIR") from None
    return True


def _is_locked_file(descriptor: int, folder: Path) -> bool:
    """Whether the file behind `descriptor` is still the one in `folder`."""
    try:
        return os.path.samestat(os.fstat(descriptor), (folder / _LOCK).stat())
    except OSError:
        return False
