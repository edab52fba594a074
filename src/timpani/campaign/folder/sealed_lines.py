"""Lines of JSON that damage shows in: each carries its number in the file and a checksum, which holds for one campaign.
Whole files of one JSON object end with a checksum, too.

    {"collective": "bcast", …, "line": 17, "checksum": "c0ffee…"}

The checksum is the beginning of SHA-256 over the campaign's id, a line feed, and all of the line before `, "checksum"`.
So a line alone shows whether it was changed, copied, moved or taken from another campaign.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from timpani.errors import UserError
from timpani.reading import open_regular, parse_json

_MAX_BYTES = 2**26
"""Of a line: a launch of a million ranks says where each of them sat in fewer."""

_END = re.compile(rb',\s*"checksum": "(?P<checksum>[0-9a-f]{16})"\s*\}\s*\Z')


class DamageError(Exception):
    """Why a line can't be trusted, in words."""


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


def checksum(raw: bytes, campaign: str) -> str:
    """Of a text of the campaign of that id."""
    return hashlib.sha256(campaign.encode() + b"\n" + raw).hexdigest()[:16]


def seal(values: Mapping[str, Any], number: int, campaign: str) -> bytes:
    """The line of `values` that is the file's line `number`."""
    body = json.dumps({**values, "line": number}, ensure_ascii=False, allow_nan=False).encode()[:-1]
    return body + f', "checksum": "{checksum(body, campaign)}"}}\n'.encode()


def seal_object(text: bytes, sealed_for: str = "") -> bytes:
    """`text`, a whole JSON object, with the checksum of all before it as its last key.

    sealed_for  the kind of file, so that a file of another kind is not accepted in its place
    """
    body = text.rstrip().removesuffix(b"}").rstrip()
    return body + f',\n "checksum": "{checksum(body, sealed_for)}"\n}}\n'.encode()


def unseal(raw: bytes, campaign: str) -> None:
    """Verify the checksum of a text; DamageError where it has none, or another text's."""
    found = _END.search(raw, max(0, len(raw) - 100))
    if found is None:
        raise DamageError("it has no checksum")
    if found["checksum"].decode() != checksum(raw[: found.start()], campaign):
        raise DamageError("its checksum is another's: it was changed since it was written, or is another campaign's")


def read_lines(path: Path, campaign: str) -> Iterator[SealedLine]:
    """The lines of `path`, none where there is no file; UserError where it can't be read."""
    try:
        with open_regular(path) as file:
            number = 0
            while raw := file.readline(_MAX_BYTES):
                number += 1
                yield _line(number, raw, campaign)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{path} can't be read ({error.strerror})", "ask its owner for a copy") from None


def _line(number: int, raw: bytes, campaign: str) -> SealedLine:
    try:
        if not raw.endswith(b"\n"):
            raise DamageError("it is torn")
        unseal(raw, campaign)
        values = _object(raw)
    except DamageError as damage:
        return SealedLine(number, raw, {}, number, str(damage))
    del values["checksum"]
    return SealedLine(number, raw, values, values.pop("line"))


def _object(raw: bytes) -> dict[str, Any]:
    try:
        values = parse_json(raw)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise DamageError("it is no JSON object")
    return values
