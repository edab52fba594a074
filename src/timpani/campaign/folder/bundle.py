"""A campaign as one file: a ZIP of its records, raw samples, report and checksums.

A bundle may come from anybody, so it is unpacked only after its members are checked.
"""

import atexit
import gzip
import hashlib
import re
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from timpani.campaign.folder.fields import PART_PATTERN
from timpani.errors import UserError
from timpani.native.held_folder import remove_temporaries, temporary
from timpani.reading import open_regular

SUFFIX = ".timpani.zip"
REPORT = "report.html"
_CHECKSUMS = "SHA256SUMS"

_OF_START = r"plan\.txt|samples\.jsonl\.gz|hosts\.txt|output\.txt|launcher\.txt|cell\.txt"
_RECORDS = r"campaign\.json|(?:results|jobs|launches|endings|proofs)\.jsonl"
_RECORDED = re.compile(rf"{_RECORDS}|launches/{PART_PATTERN}/(?:{_OF_START})", re.ASCII)

_MAX_MEMBERS = 500_000
_MAX_BYTES = 2**32
"""Of all members together, and of all raw samples when they are unpacked."""

_MAX_LINE_BYTES = 2**28
_MAX_EXPANSION = 500
"""Of a member's size over its packed size; lines of records shrink to a twentieth."""

_MIN_CHECKED_BYTES = 2**20
"""Smaller members may expand as they like."""

_PIECE_BYTES = 2**20
_STEP = "ask for the file again, and open only files from people you trust"

_UNREADABLE = (EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)
"""What `zipfile` raises for files that are damaged, encrypted or of another kind."""

_KIND = "bundles"

_unpacked: dict[Path, Path] = {}
"""By bundle the folder of the campaign that was unpacked from it; it is removed when the process ends."""

_folders = ExitStack()
atexit.register(_folders.close)


def campaign_folder(place: Path) -> Path:
    """`place`, or where it is a file, the campaign that is packed in it, in a temporary folder.

    UserError where the file is damaged, or holds anything but a campaign.
    """
    if not place.is_file():
        return place
    if (found := _unpacked.get(place.resolve())) is not None:
        return found
    remove_temporaries(_KIND)
    above, _ = _folders.enter_context(temporary(_KIND))
    folder = above / bundle_name(place)
    folder.mkdir()
    unpack(place, folder)
    _unpacked[place.resolve()] = folder
    return folder


def typed_place(folder: Path) -> Path:
    """What a user types for the campaign in `folder`: the bundle from which it was unpacked, or the folder itself."""
    return next((bundle for bundle, unpacked in _unpacked.items() if unpacked == folder), folder)


def bundle_name(file: Path) -> str:
    """The campaign's name: that of the file without its ending."""
    return file.name.removesuffix(SUFFIX) or "campaign"


def recorded_files(folder: Path) -> dict[str, Path]:
    """The files that a bundle of the campaign in `folder` holds, by name; UserError where a start is not yet taken
    over."""
    for path in sorted(folder.glob("launches/*/samples.jsonl")):
        raise UserError(f"{path} is not yet part of results.jsonl", "continue the campaign, then pack it")
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path for name, path in found.items() if _RECORDED.fullmatch(name)}


def pack(folder: Path, report: bytes) -> Iterator[bytes]:
    """The bundle of the campaign in `folder`, in pieces; UserError as `recorded_files`."""
    members = recorded_files(folder)
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w") as archive:
            sums = [_add(archive, name, _content(path)) for name, path in members.items()]
            sums.append(_add(archive, REPORT, report))
            _add(archive, _CHECKSUMS, "".join(sums).encode())
        file.seek(0)
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _content(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> str:
    """Add a member; its line in the list of checksums."""
    member = zipfile.ZipInfo(name)  # of one date, so that the same campaign gives the same file
    member.external_attr = (stat.S_IFREG | 0o644) << 16
    method = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
    archive.writestr(member, content, method)
    return f"{hashlib.sha256(content).hexdigest()}  {name}\n"


def unpack(file: Path, into: Path) -> None:
    """Unpack a bundle into the empty folder `into`; UserError before anything that is not a campaign's is written."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(file, members)
            sums = {each.filename: _extract(archive, each, into) for each in members}
            stated = _stated(file, (into / _CHECKSUMS).read_bytes())
    except _UNREADABLE as error:
        raise UserError(f"{file} is damaged, or no bundle of Timpani ({error})", _STEP) from None
    del sums[_CHECKSUMS]
    differing = [name for name in sorted({**sums, **stated}) if sums.get(name) != stated.get(name)]
    if differing:
        raise UserError(f"{file}: {differing[0]} is missing or was changed since it was packed", _STEP)
    _check_samples(file, into)


def _check_members(file: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [each.filename for each in members]
    if _CHECKSUMS not in names or "campaign.json" not in names:
        raise UserError(f"{file} holds no campaign", f"name a file that `timpani bundle` wrote, {SUFFIX}")
    if len(set(names)) < len(names) or len(names) > _MAX_MEMBERS:
        raise UserError(f"{file} has too many members, or one twice", _STEP)
    for each in members:
        kind = stat.S_IFMT(each.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise UserError(f"{file}: {each.filename!r} is a link or no file", _STEP)
        if each.filename not in (REPORT, _CHECKSUMS) and not _RECORDED.fullmatch(each.filename):
            raise UserError(f"{file}: {each.filename!r} is no part of a campaign", _STEP)
        if each.file_size > max(_MIN_CHECKED_BYTES, _MAX_EXPANSION * each.compress_size):
            raise UserError(f"{file}: {each.filename} expands more than {_MAX_EXPANSION} times", _STEP)
    if sum(each.file_size for each in members) > _MAX_BYTES:
        raise UserError(f"{file} unpacks to more than {_MAX_BYTES >> 30} GiB", _STEP)


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, into: Path) -> str:
    """Write a member, whose name was checked; its SHA-256. `zipfile` reads no more than the stated size."""
    path, checksum = into / member.filename, hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as packed, path.open("xb") as plain:
        while piece := packed.read(_PIECE_BYTES):
            checksum.update(piece)
            plain.write(piece)
    return checksum.hexdigest()


def _stated(file: Path, listed: bytes) -> Mapping[str, str]:
    pairs = [line.split("  ", 1) for line in listed.decode().splitlines()]
    if any(len(pair) != 2 for pair in pairs):
        raise UserError(f"{file}: {_CHECKSUMS} is no list of checksums", _STEP)
    return {name: checksum for checksum, name in pairs}


def _check_samples(file: Path, folder: Path) -> None:
    """UserError where raw samples, which are packed once more, are damaged or huge."""
    left = _MAX_BYTES
    for path in sorted(folder.glob("launches/*/*.gz")):
        try:
            with gzip.open(path) as samples:
                left -= _unpacked_bytes(
                    samples, min(left, max(_MIN_CHECKED_BYTES, _MAX_EXPANSION * path.stat().st_size))
                )
        except _UNREADABLE as error:
            raise UserError(f"{file}: {path.relative_to(folder)} is damaged or too large ({error})", _STEP) from None


def _unpacked_bytes(samples: gzip.GzipFile, limit: int) -> int:
    """The bytes of a stream; ValueError where they or a line are more than allowed."""
    total = 0
    while line := samples.readline(_MAX_LINE_BYTES):
        total += len(line)
        if total > limit or len(line) == _MAX_LINE_BYTES:
            raise ValueError(f"it unpacks to more than {min(limit, _MAX_LINE_BYTES)} bytes")
    return total
