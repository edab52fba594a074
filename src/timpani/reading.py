"""Read what somebody else wrote: whole, of bounded size, as TOML or JSON; anything else is one line to the user.

The native programs write JSON objects, one a line, each ending with a CRC-32 of the text before it.
"""

import io
import json
import os
import stat
import tomllib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from timpani.errors import UserError

MAX_BYTES = 2**26
"""Of a file that is read whole: a thousand times what people write, and no more than memory holds."""

_MAX_TOML_BYTES = 2**21
"""100,000 nodes by their names; Python's reader takes a second or two for it."""


def open_regular(path: Path) -> "io.BufferedReader[io.FileIO]":
    """`path` open for reading; OSError where it can't be opened, or is a pipe or a device, which may never end."""
    file = io.BufferedReader(_open_at_once(path))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "it is no regular file", str(path))
    return file


def _open_at_once(path: Path) -> io.FileIO:
    """`path` open for reading; opening a pipe does not wait for a process that writes to it."""
    return io.FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def _read_some(path: Path, most: int) -> bytes:
    """At most the first `most` bytes of a file or of a pipe that a process writes to, such as `<(command)`."""
    with _open_at_once(path) as file:
        first = file.read(1)  # None: a process has the pipe open and has not written yet
        if first == b"" and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is a pipe to which no process writes", str(path))
        os.set_blocking(file.fileno(), True)
        return (first or b"") + io.BufferedReader(file).read(most - len(first or b""))


def read_bytes(path: Path, next_step: str, most: int = MAX_BYTES) -> bytes:
    """The content of `path`. FileNotFoundError if the file is missing, UserError if it can't be read."""
    try:
        raw = _read_some(path, most + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path} can't be read ({why})", next_step) from None
    if len(raw) > most:
        raise UserError(f"{path} is larger than {most >> 20} MiB", next_step)
    return raw


def read_lines(path: Path, name: str, next_step: str) -> list[str]:
    """The lines of a text that errors call `name`; UserError where it is missing or can't be read."""
    try:
        return read_bytes(path, next_step).decode().splitlines()
    except FileNotFoundError:
        why = "there is no such file"
    except UnicodeDecodeError as error:
        why = f"it is no UTF-8 at byte {error.start}"
    raise UserError(f"{name} {path} can't be read ({why})", next_step)


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; FileNotFoundError if it is missing."""
    step = "correct it and run again"
    raw = read_bytes(path, step, _MAX_TOML_BYTES)
    try:
        return tomllib.loads(raw.decode())
    except RecursionError:
        why = "it is nested too deeply"
    except UnicodeDecodeError as error:
        why = f"it is no UTF-8 at byte {error.start}"
    except tomllib.TOMLDecodeError as error:
        why = str(error)
    except ValueError:  # Python's own, of a number of thousands of digits
        why = "a number in it is too long"
    raise UserError(f"{path} can't be read as TOML ({why})", step)


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text. ValueError if it is not JSON, is nested beyond 200 levels, or has NaN or Infinity."""
    return from_json(raw, allow_inf_nan=False)


_KEY = "crc32"
_FIELD = f',"{_KEY}":"'.encode()


def checked_line(values: Mapping[str, Any]) -> bytes:
    """The line of `values`, whose own checksum is replaced; native/measure/files/record.hpp writes the same."""
    plain = {key: value for key, value in values.items() if key != _KEY}
    body = json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
    return body + _FIELD + b'%08x"}\n' % zlib.crc32(body)


def read_checked_line(raw: bytes) -> dict[str, Any]:
    """The values of a line without its line feed and checksum; ValueError if it was changed or is torn."""
    body, field, checksum = raw.rpartition(_FIELD)
    if not field or checksum != b'%08x"}' % zlib.crc32(body):
        raise ValueError("it was changed since it was written, or is torn")
    values = parse_json(raw)
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")
    del values[_KEY]
    return values
