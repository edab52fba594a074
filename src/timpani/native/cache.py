"""Where built programs are kept, and where temporary files of this user are."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from timpani.errors import UserError


def cache_folder() -> Path:
    """Where built programs are kept, made if need be: `$XDG_CACHE_HOME/timpani`, `~/.cache/timpani`, or, where neither
    can be written, a folder of the user's own among the temporary files."""
    try:
        folder = _preferred_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home directory is known
        return temporary_folder()


def cached(name: str) -> Path | None:
    """The folder `name` in the cache, also in one that can only be read, as a compute node may see the user's home."""
    with suppress(OSError, RuntimeError):  # a home that can't be read, or none
        preferred = _preferred_folder() / name
        if preferred.is_dir() and os.access(preferred, os.R_OK | os.X_OK):
            return preferred
    folder = cache_folder() / name
    return folder if folder.is_dir() else None


def _preferred_folder() -> Path:
    """RuntimeError where no home directory is known."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "timpani"


def temporary_folder(name: str = "timpani") -> Path:
    """A folder that only this user can use among the temporary files, called `name` and made if need be."""
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
    try:
        facts = _make(folder)
    except OSError as error:
        raise UserError(
            f"no folder for temporary files: {error}", "set TMPDIR or XDG_CACHE_HOME to one you can write"
        ) from None
    # Others may write where temporary files are: never run programs from a folder that someone else made.
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & 0o077:
        raise UserError(
            f"{folder} can be changed by other users",
            "remove it, or set TMPDIR and XDG_CACHE_HOME to folders of your own",
        )
    return folder


def _make(folder: Path) -> os.stat_result:
    """What lies at `folder`, a new folder if nothing did. Other processes may remove it while it is empty."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            return folder.lstat()
