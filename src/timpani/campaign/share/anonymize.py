"""A copy of a campaign in which pseudonyms stand for the names of hosts, users and switches."""

import gzip
import hashlib
import json
import re
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from timpani.campaign.folder.bundle import REPORT, recorded_files
from timpani.campaign.folder.header import Header, keep_header, read_header
from timpani.campaign.folder.load import believed_records
from timpani.campaign.folder.raw_record import PACKED
from timpani.campaign.folder.records import ENDINGS, LAUNCHES, PROOFS, RESULTS
from timpani.campaign.folder.sealed_lines import seal
from timpani.campaign.share.pseudonyms import Pseudonyms
from timpani.campaign.share.recorded_names import known_pseudonyms
from timpani.checked_lines import checked_line
from timpani.errors import UserError
from timpani.study.schema import CELL

_LEFT_OUT = "launcher.txt"
"""Addresses where a launcher listened; needed only while the campaign is measured."""

_HOSTS = "hosts.txt"

_FIXED = frozenset(CELL) | {"id", "format", "timpani", "created", "started", "ended", "part", "interleaving", "samples"}
"""Keys whose values name no host or user: pseudonyms could make two of them equal."""

_NUMBERS = re.compile(
    rb'\[[0-9.,eE+-]*\]|(?<="samples": )"[0-9a-f]{64}"|(?<="checksum": )"[0-9a-f]{16}"|^[0-9a-f]{64}(?=  )'
)
"""Samples and checksums, in which digits may look like a name."""

_PACKAGE = Path(__file__).parents[2]
_WORD = re.compile(r"[A-Za-z]{3,}")
_PROGRAM = re.compile(r"<(script|style)>.*?</\1>", re.DOTALL)
"""Of a report: what is the same in all reports."""

_MARKUP = re.compile(r'</?[A-Za-z][\w-]*|(?<=\s)[A-Za-z_:][\w:.-]*(?==")')
"""Of a report: names of elements and attributes, which a user may have, too, such as `td`."""


def anonymous_copy(folder: Path, into: Path) -> Pseudonyms:
    """Write the campaign in `folder`, which can be believed, into the empty folder `into`, with pseudonyms for names.

    Lines that change have new checksums, and results name the new lines of raw samples. The copy has a new id.
    """
    header = read_header(folder)
    records = believed_records(folder, header)
    files = recorded_files(folder)
    texts = [path.read_text(errors="replace") for name, path in files.items() if name.endswith(".txt")]
    starts = [*records.values(LAUNCHES), *records.values(ENDINGS)]
    names = known_pseudonyms(header.recorded, starts, records.values(RESULTS), texts)
    values = _replaced_header(header.recorded, names)
    new = Header.check({**values, "id": secrets.token_hex(8), "anonymized": True}, str(folder / "campaign.json"))
    keep_header(into, new)
    changed: dict[str, str] = {}
    for name, path in files.items():
        copy = into / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.name == PACKED:
            changed |= _copy_samples(path, copy, names)
        elif path.suffix == ".txt" and path.name != _LEFT_OUT:
            text = path.read_text(errors="replace")
            copy.write_text(names.in_host_file(text) if path.name == _HOSTS else names.replaced(text))
    for name in (RESULTS, LAUNCHES, ENDINGS, PROOFS):
        if found := records.values(name):
            with (into / name).open("wb") as file:
                for number, line in enumerate(found, start=1):
                    file.write(seal(_replaced_line(line, names, changed), number, new.id))
    return names


def refuse_names(archive: zipfile.ZipFile, names: Pseudonyms) -> None:
    """UserError where a member of a finished bundle still holds a known name."""
    for member in archive.namelist():
        for number, text in _searched(archive, member):
            for found in names.find(text):
                if member == REPORT and found.lower() in _report_words():
                    continue
                raise UserError(
                    f"{member} line {number} would still hold the name {found!r}",
                    "rename it there and measure again, or share the campaign without --anonymize",
                )


@cache
def _report_words() -> frozenset[str]:
    """Words of Timpani's texts: a report has them whatever the records hold, which are searched as well."""
    texts = (path.read_text() for path in _PACKAGE.rglob("*") if path.suffix in (".py", ".jinja"))
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text))


def _searched(archive: zipfile.ZipFile, member: str) -> Iterator[tuple[int, str]]:
    """The lines of a member with their numbers, without samples and without what all reports hold."""
    with archive.open(member) as packed:
        if member == REPORT:
            text = _MARKUP.sub("", _PROGRAM.sub("", packed.read().decode().replace("<wbr>", "")))
            yield from enumerate(text.splitlines(), start=1)
            return
        with gzip.open(packed) if member.endswith(".gz") else packed as plain:
            for number, line in enumerate(plain, start=1):
                yield number, _NUMBERS.sub(b"", line).decode(errors="replace")


def _replaced_header(recorded: Mapping[str, Any], names: Pseudonyms) -> dict[str, Any]:
    values: dict[str, Any] = _replaced(recorded, names)
    machine = dict(values.get("machine", {}))
    was = recorded.get("machine", {})
    for key in ("name", "hosts", "groups"):
        if key in was:
            machine[key] = _with_pseudonyms(was[key], names)
    for new, part in zip(values.get("merged", ()), recorded.get("merged", ()), strict=True):
        new["header"] = _replaced_header(part["header"], names)
    return {**values, "machine": machine}


def _with_pseudonyms(value: Any, names: Pseudonyms) -> Any:
    """A part of the machine in which names of hosts and switches stand alone."""
    if isinstance(value, str):
        return names.pseudonym(value)
    if isinstance(value, list):
        return [_with_pseudonyms(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _with_pseudonyms(each, names) for key, each in value.items()}
    return value


def _replaced_line(line: Mapping[str, Any], names: Pseudonyms, changed: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = _replaced(line, names)
    if samples := line.get("samples"):
        values["samples"] = changed.get(samples, samples)
    return values


def _replaced(value: Any, names: Pseudonyms, key: str = "") -> Any:
    """A JSON value with its names replaced; `key` is the one that it has."""
    if isinstance(value, str):
        if key in _FIXED:
            return value
        return names.pseudonym(value) if key in ("host", "machine") else names.replaced(value)
    if isinstance(value, dict):
        return {name: _replaced(each, names, name) for name, each in value.items()}
    if isinstance(value, list) and not (value and isinstance(value[0], int | float)):
        return [_replaced(each, names, key) for each in value]
    return value


def _copy_samples(path: Path, copy: Path, names: Pseudonyms) -> dict[str, str]:
    """Copy packed raw samples; only lines with names change. Returns the new SHA-256 of each changed line."""
    changed = {}
    try:
        with gzip.open(path) as lines, copy.open("wb") as packed, gzip.GzipFile("", "wb", 1, packed, mtime=0) as file:
            for line in lines:
                new = _replaced_sample(line, names)
                file.write(new)
                if new != line:
                    changed[_sha256(line)] = _sha256(new)
    except (EOFError, gzip.BadGzipFile, ValueError, zlib.error) as error:
        step = "the same `timpani run` command measures it again"
        raise UserError(f"{path} is damaged ({error}), so names in it can't be replaced", step) from None
    return changed


def _replaced_sample(line: bytes, names: Pseudonyms) -> bytes:
    if not any(names.find(_NUMBERS.sub(b"", line).decode())) and b'"host"' not in line:
        return line
    return checked_line(_replaced(json.loads(line), names))


def _sha256(line: bytes) -> str:
    return hashlib.sha256(line.removesuffix(b"\n")).hexdigest()
