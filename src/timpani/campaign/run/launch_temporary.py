"""The folder for temporary files of one launch: all that a launcher leaves there when it is killed can be found.

Timpani holds the lock of the folder, and so does the launcher. Where both are gone, whoever starts next, or
`timpani check`, removes the folder.
"""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from timpani.native.cache import temporary_folder
from timpani.native.held_folder import held, remove_abandoned

_PREFIX = "launch-"
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
    try:
        with ExitStack() as stack:
            folder, lock = _enter_folder(stack)
            yield {"TMPDIR": str(folder)}, (lock,)
    finally:
        _remove_empty(_parent())


def remove_temporaries() -> list[Path]:
    """Remove the folders of this user's launches that are gone together with their launchers; returns them."""
    parent = _parent()
    removed = remove_abandoned(parent.glob(f"{_PREFIX}*"))
    _remove_empty(parent)
    return removed


def _parent() -> Path:
    return temporary_folder("timpani-launches")


def _enter_folder(stack: ExitStack) -> tuple[Path, int]:
    """A new folder, and the descriptor of its lock, both held until `stack` is closed."""
    while True:
        folder = _parent() / f"{_PREFIX}{secrets.token_hex(4)}"
        with suppress(FileNotFoundError):  # another launch has just removed the folder above
            return folder, stack.enter_context(held(folder, lambda process: None))


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # something else is in it
        folder.rmdir()
