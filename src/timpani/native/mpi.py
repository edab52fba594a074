"""An MPI library of this machine, as what builds and starts programs needs it."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mpi:
    """An MPI library that programs can be built for and started with.

    kind         the word for the library, as `--mpi` takes it and records have it
    name         its name, as people write it
    info         the program that describes the library, if it has one
    environment  variables that its compiler and its programs must find in theirs, where it lies in an unusual place
    """

    kind: str
    name: str
    version: str
    mpirun: Path
    cxx: Path
    info: Path | None
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.mpirun})"

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version for comparisons."""
        return version_numbers(self.version)


def version_numbers(version: str) -> tuple[int, ...]:
    """A version for comparisons: (5, 0, 11) of `5.0.11` and of `5.0.11rc1`."""
    return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", version))
