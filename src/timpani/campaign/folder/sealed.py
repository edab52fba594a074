"""Files in which damage shows: lines of JSON with a number and a checksum each, and JSON objects that end with one.

    {"collective": "bcast", …, "line": 17, "checksum": "c0ffee…"}

The checksum is the beginning of SHA-256 over what the text is sealed for, a line feed, and all of the text before
`, "checksum"`. A line is sealed for its campaign and its file, an object for its kind. So a text alone shows whether it
was changed, copied, moved, or taken from another campaign or file.
"""

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from timpani.errors import UserError, cannot_write, wrong
from timpani.reading import open_regular, parse_json, read_bytes

_MAX_BYTES = 2**26
"""Of a line: a launch of a million ranks says where each of them sat in fewer."""

_END = re.compile(rb',\s*"checksum": "(?P<checksum>[0-9a-f]{16})"\s*\}\s*\Z')

Checked = TypeVar("Checked")


class DamageError(Exception):
    """Why a text can't be trusted, in words."""


class SealedLine(NamedTuple):
    """A whole line of a file: its number from 1, its bytes with the line feed, and what of it can be said to be wrong.

    values   of its object but for its number and checksum; empty where it is damaged
    written  the number that it was written as: another one where lines before it were lost, added or moved
    """

    number: int
    raw: bytes
    values: dict[str, Any]
    written: int
    damage: str | None = None


def checksum(raw: bytes, sealed_for: str) -> str:
    """The checksum of a text."""
    return hashlib.sha256(sealed_for.encode() + b"\n" + raw).hexdigest()[:16]


def seal(values: Mapping[str, Any], number: int, sealed_for: str) -> bytes:
    """The line of `values` that is the file's line `number`."""
    body = json.dumps({**values, "line": number}, ensure_ascii=False, allow_nan=False).encode()[:-1]
    return body + f', "checksum": "{checksum(body, sealed_for)}"}}\n'.encode()


def seal_object(text: bytes, sealed_for: str = "") -> bytes:
    """`text`, a whole JSON object, with the checksum of all before it as its last key."""
    body = text.rstrip().removesuffix(b"}").rstrip()
    return body + f',\n "checksum": "{checksum(body, sealed_for)}"\n}}\n'.encode()


def _unseal(raw: bytes, sealed_for: str) -> None:
    """Verify the checksum of a text; DamageError where it has none, or another text's."""
    found = _END.search(raw, max(0, len(raw) - 100))
    if found is None:
        raise DamageError("it has no checksum")
    if found["checksum"].decode() != checksum(raw[: found.start()], sealed_for):
        raise DamageError("its checksum is another's: it was changed since it was written, or is another file's")


def _object(raw: bytes) -> dict[str, Any]:
    try:
        values = parse_json(raw)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise DamageError("it is no JSON object")
    return values


@dataclass(frozen=True)
class SealedFile:
    """A kind of file that holds one JSON object with a checksum as its last key.

    holds       what it is, in words: `a selection table`
    sealed_for  so that a file of another kind is not accepted in its place
    step        what to do where a file is missing, damaged or of another kind
    """

    holds: str
    sealed_for: str
    step: str

    def text(self, values: Mapping[str, Any]) -> bytes:
        """The file of `values`."""
        return seal_object(json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False).encode(), self.sealed_for)

    def write(self, path: Path, values: Mapping[str, Any], unfinished: Path | None = None) -> None:
        """Write the file whole or not at all, by the name `unfinished` first; UserError where the system refuses."""
        new = unfinished or path.with_name(f"{path.name}.new")
        try:
            with new.open("wb") as file:
                file.write(self.text(values))
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise cannot_write(path, error) from None

    def read(self, path: Path, check: Callable[[dict[str, Any]], Checked]) -> Checked:
        """The result of `check` for the file's values without their checksum; its ValidationError becomes a UserError.

        FileNotFoundError without a file, UserError where it can't be read or was changed since it was written.
        """
        raw = read_bytes(path, self.step)
        try:
            _unseal(raw, self.sealed_for)
            values = _object(raw)
            del values["checksum"]
            return check(values)
        except DamageError as damage:
            raise UserError(f"{path} can't be trusted: {damage}", self.step) from None
        except ValidationError as error:
            raise UserError(f"{path} is not {self.holds}: {wrong(dict(error.errors()[0]))}", self.step) from None


def read_lines(path: Path, sealed_for: str) -> Iterator[SealedLine]:
    """The lines of `path`, none where there is no file; UserError where it can't be read."""
    try:
        with open_regular(path) as file:
            number = 0
            while raw := file.readline(_MAX_BYTES):
                number += 1
                yield _line(number, raw, sealed_for)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{path} can't be read ({error.strerror})", "ask its owner for a copy") from None


def _line(number: int, raw: bytes, sealed_for: str) -> SealedLine:
    try:
        if not raw.endswith(b"\n"):
            raise DamageError("it is torn")
        _unseal(raw, sealed_for)
        values = _object(raw)
    except DamageError as damage:
        return SealedLine(number, raw, {}, number, str(damage))
    del values["checksum"]
    return SealedLine(number, raw, values, values.pop("line"))


def lost_name(path: Path, file: int) -> str | None:
    """What happened to the name of an open file: `was removed` or `was replaced`; None: `path` is still this file."""
    opened = os.fstat(file)
    there = path.stat() if path.exists() else None
    if there is None:
        return "was removed"
    return None if (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino) else "was replaced"


class AppendedFile:
    """A file of sealed lines, opened to append to; it is there from the first line on."""

    def __init__(self, path: Path, lines: int, sealed_for: str) -> None:
        """`lines` is how many it holds."""
        self._path = path
        self._lines = lines
        self._sealed_for = sealed_for
        self._size = path.stat().st_size if path.exists() else 0
        self._file: int | None = None

    def append(self, values: dict[str, Any]) -> None:
        """Add a line; what was appended is on its way to the disk as one whole line.

        UserError where the system refuses, and where the file is not the one that was appended to before.
        """
        raw = seal(values, self._lines + 1, self._sealed_for)
        try:
            if self._file is None:
                new = 0 if self._size else os.O_CREAT
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | new, 0o666)
            changed = None if os.fstat(self._file).st_size == self._size else "was changed"
            if what := lost_name(self._path, self._file) or changed:
                raise self._harmed(what)
            written = os.write(self._file, raw)
            if written != len(raw):
                os.ftruncate(self._file, self._size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except FileNotFoundError:
            raise self._harmed("was removed") from None
        except OSError as error:
            raise cannot_write(self._path, error) from None
        self._lines += 1
        self._size += len(raw)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _harmed(self, what: str) -> UserError:
        return UserError(
            f"{self._path} {what} while this run wrote it", "put it back if you can; the same command continues"
        )
