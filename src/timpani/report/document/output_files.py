"""What Timpani writes into files that a user named: never over one that exists but by --force."""

import os
from collections.abc import Iterable, Mapping
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


def write_files(found: Mapping[Path, bytes], folder: Path, force: bool) -> None:
    """Write files into `folder`, by their paths in it, over existing ones only with `force`: all, or none if one
    exists."""
    for path in found:
        check_new(folder / path, force)
    for path, content in found.items():
        make_folder((folder / path).parent)
        write_file(folder / path, content, force)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; UserError where that can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
