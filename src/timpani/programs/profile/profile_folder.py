"""The folder of a profile: `profile.json`, which seals it, and a part for each program that ran.

    profile.json    the command, the MPI library, how the run ended, and the hash of each part
    part-1.jsonl    what a program called; `part-2.jsonl` of a second program in a script, or of one that was spawned

Without profile.json, as in a job script that sets TIMPANI_PROFILE alone, the parts are read as they are.
"""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from timpani.campaign.folder.fields import Hash, Text
from timpani.campaign.folder.sealed import SealedFile
from timpani.errors import UserError, cannot_write
from timpani.programs.profile.profile_lines import ProfilePart, read_part
from timpani.version import __version__

HEADER = "profile.json"
FORMAT: Literal["timpani-profile"] = "timpani-profile"
VERSION = 1

_STEP = "profile the program again"
_FILE = SealedFile("the header of a profile", FORMAT, _STEP)


class ProgramMpi(BaseModel):
    """The MPI library that the program ran with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Text
    name: Text
    version: Text
    mpirun: Text

    def __str__(self) -> str:
        """For people."""
        return f"{self.name} {self.version}"


class ProfileHeader(BaseModel):
    """What profile.json says.

    command  the user's, word for word
    rules    the text of the rules that replaced collectives; None: the program ran as it is
    began    ISO 8601
    status   the exit status of the command; None while it runs
    seconds  of the whole command; None while it runs
    parts    the SHA-256 of each part, by its name
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal["timpani-profile"] = FORMAT
    version: Annotated[int, Field(ge=1)] = VERSION
    id: Text = Field(default_factory=lambda: secrets.token_hex(8))
    timpani: Text = __version__
    command: tuple[Text, ...]
    mpi: ProgramMpi
    rules: str | None = None
    began: Text = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    status: int | None = None
    seconds: float | None = None
    parts: dict[str, Hash] = {}


@dataclass(frozen=True)
class ProgramProfile:
    """A profile that was read.

    header  None where nothing seals the folder
    parts   in the order of their numbers
    notes   what a reader should know of it, in words
    """

    folder: Path
    header: ProfileHeader | None
    parts: tuple[ProfilePart, ...]
    notes: tuple[str, ...] = ()

    @property
    def main_part(self) -> ProfilePart:
        """The part of the program that took longest; UserError where no program called MPI."""
        if not self.parts:
            raise UserError(f"{self.folder} holds no calls", "profile a program that calls MPI_Init")
        return max(self.parts, key=lambda part: part.wall_seconds)


class ProfileWriter:
    """A new folder that a profile is written into."""

    def __init__(self, folder: Path, header: ProfileHeader) -> None:
        """Make the folder; UserError where it holds anything."""
        self.folder, self.header = folder, header
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = sorted(path.name for path in folder.iterdir())
            if not held:
                (folder / HEADER).touch(exist_ok=False)  # of two commands one gets the folder
        except OSError as error:
            raise cannot_write(folder, error) from None
        if held:
            raise UserError(f"{folder} holds {held[0]} already", "choose another folder with -o")
        try:
            self._write()
        except UserError:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the folder, which holds no calls and would refuse the corrected command; not what a program wrote."""
        for path in (self.folder / HEADER, *self.folder.glob("part-*.jsonl")):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it holds other files
            self.folder.rmdir()

    def seal(self, status: int, seconds: float) -> None:
        """Write how the command ended and what its programs left; whole files only."""
        parts = {path.name: _sha256(path) for path in _part_files(self.folder)}
        self.header = self.header.model_copy(update={"status": status, "seconds": seconds, "parts": parts})
        self._write()

    def _write(self) -> None:
        _FILE.write(self.folder / HEADER, self.header.model_dump())


def is_profile(folder: Path) -> bool:
    """Whether `folder` holds a profile, sealed or not."""
    return (folder / HEADER).is_file() or (folder / "part-1.jsonl").is_file()


def read_profile(folder: Path) -> ProgramProfile:
    """The profile in `folder`; UserError where it holds none, or a damaged one."""
    if not is_profile(folder):
        raise UserError(f"{folder} holds no profile", "write one: timpani profile -o FOLDER -- mpirun … ./program")
    header = _read_header(folder / HEADER) if (folder / HEADER).exists() else None
    files = {path.name: path for path in _part_files(folder)}
    notes = []
    if header is None:
        notes.append("not sealed: written without `timpani profile`")
    elif header.status is None:
        notes.append("not sealed: `timpani profile` did not see the command end")
    else:
        for name, known in header.parts.items():
            if name not in files:
                raise UserError(f"{folder / name} is lost", _STEP)
            if _sha256(files[name]) != known:
                raise UserError(f"{folder / name} was changed since it was written", _STEP)
        if added := sorted(files.keys() - header.parts.keys()):
            raise UserError(f"{folder / added[0]} was added since the profile was written", "move it elsewhere")
    return ProgramProfile(folder, header, tuple(map(read_part, files.values())), tuple(notes))


def _read_header(path: Path) -> ProfileHeader:
    header = _FILE.read(path, ProfileHeader.model_validate)
    if header.version > VERSION:
        raise UserError(f"{path} is of version {header.version}, and this Timpani reads {VERSION}", "update it")
    return header


def _part_files(folder: Path) -> list[Path]:
    """Those that are whole, by their numbers; one that was only started is empty."""
    found = [path for path in folder.glob("part-*.jsonl") if path.stem.removeprefix("part-").isdecimal()]
    written = [path for path in found if path.stat().st_size > 0]
    return sorted(written, key=lambda path: int(path.stem.removeprefix("part-")))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
