"""A setting that an MPI library would find without Timpani: in a file, in the environment, or by a loaded module."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from timpani.errors import printable
from timpani.reading import read_bytes

ENVIRONMENT = "the environment"

_Text = Annotated[str, AfterValidator(printable)]


@dataclass(frozen=True)
class OutsideSetting:
    """One setting.

    source     the file and its line, or ENVIRONMENT
    chooses    whether it changes which algorithm the library runs
    removed    whether Timpani removes it from the environment of its launches
    libraries  names of the libraries that find it, if a campaign starts others too; empty: all find it
    """

    name: _Text
    value: _Text
    source: _Text
    chooses: bool
    removed: bool = False
    libraries: _Text = ""

    @property
    def decides_default(self) -> bool:
        """Whether the measured default is this setting's choice in place of the library's."""
        return self.chooses and not self.removed

    @property
    def concerns(self) -> str:
        """The libraries, before a sentence on the setting; nothing if it concerns all."""
        return f"{self.libraries}: " if self.libraries else ""

    def __str__(self) -> str:
        return f"{self.source} sets {self.name} to {self.value!r}"


def file_line(path: Path, line: int | str | None) -> str:
    """A place in a settings file, with `~` for the home folder."""
    try:
        shown = f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):  # RuntimeError: no home folder is known
        shown = str(path)
    return f"{shown} line {line}" if line else shown


def settings_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line of a launcher's settings file after its number; nothing where there is no such file.

    UserError where the file can't be read.
    """
    try:
        text = read_bytes(path, "correct it or remove it: the launcher reads it").decode(errors="replace")
    except FileNotFoundError:
        return
    yield from enumerate(text.splitlines(), 1)


def variables(
    environment: Mapping[str, str], wanted: re.Pattern[str], choosing: re.Pattern[str]
) -> Iterator[OutsideSetting]:
    """The `wanted` variables; those that match `choosing` choose algorithms."""
    for name, value in sorted(environment.items()):
        if wanted.fullmatch(name):
            yield OutsideSetting(name, value, ENVIRONMENT, bool(choosing.fullmatch(name)))
