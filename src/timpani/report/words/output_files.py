"""What Timpani writes into files that a user named: never over one that exists but by --force."""

import os
from collections.abc import Iterable
from pathlib import Path

from timpani.errors import UserError, cannot_write


def check_new(path: Path, force: bool) -> None:
    """UserError where `path` exists already and `force` is not set, or is no file."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file", "choose another name")
    if path.exists() and not force:
        raise UserError(f"{path} exists already", "choose another name, or overwrite it with --force")


def write_file(path: Path, content: bytes | Iterable[bytes], force: bool = False) -> None:
    """Write a file, in pieces or at once, whole or not at all; one that exists already only with `force`, and it stays
    until the new is whole.

    UserError where it exists, is no file, or can't be written.
    """
    check_new(path, force)
    path = path.resolve() if path.is_symlink() else path  # the link stays
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            with unfinished.open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None
