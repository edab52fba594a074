"""A file that grows by whole lines, and by nobody else's."""

import errno
import os
from pathlib import Path
from typing import Any

from timpani.campaign.folder.sealed_lines import seal
from timpani.errors import UserError, cannot_write


def lost_name(path: Path, file: int) -> str | None:
    """What happened to the name of an open file: `was removed` or `was replaced`; None: `path` is still this file."""
    opened = os.fstat(file)
    there = path.stat() if path.exists() else None
    if there is None:
        return "was removed"
    return None if (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino) else "was replaced"


class AppendedFile:
    """A file of sealed lines, opened to append to; it is there from the first line on."""

    def __init__(self, path: Path, lines: int, campaign: str) -> None:
        """`lines` is how many it holds; `campaign` is the id that their checksums hold for."""
        self._path = path
        self._lines = lines
        self._campaign = campaign
        self._size = path.stat().st_size if path.exists() else 0
        self._file: int | None = None

    def append(self, values: dict[str, Any]) -> None:
        """Add a line; what was appended is on its way to the disk as one whole line.

        UserError where the system refuses, and where the file is not the one that was appended to before.
        """
        raw = seal(values, self._lines + 1, self._campaign)
        try:
            file = self._opened()
            self._check_same(file)
            written = os.write(file, raw)
            if written != len(raw):
                os.ftruncate(file, self._size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise cannot_write(self._path, error) from None
        self._lines += 1
        self._size += len(raw)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is None:
            new = 0 if self._size else os.O_CREAT
            try:
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | new, 0o666)
            except FileNotFoundError:
                raise self._changed("was removed") from None
        return self._file

    def _check_same(self, file: int) -> None:
        """Whether the name still is that of the open file, and that holds what was written into it."""
        what = lost_name(self._path, file)
        if what is None and os.fstat(file).st_size != self._size:
            what = "was changed"
        if what is not None:
            raise self._changed(what)

    def _changed(self, what: str) -> UserError:
        return UserError(
            f"{self._path} {what} while this run wrote it", "put it back if you can; the same command continues"
        )
