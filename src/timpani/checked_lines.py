"""JSON objects, one a line, each ending with a CRC-32 of the text before it: what the native programs write."""

import json
import zlib
from collections.abc import Mapping
from typing import Any

from timpani.reading import parse_json

_KEY = "crc32"
_FIELD = f',"{_KEY}":"'.encode()


def checked_line(values: Mapping[str, Any]) -> bytes:
    """The line of `values`, whose own checksum is replaced; native/measure/files/checksum.hpp writes the same."""
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
