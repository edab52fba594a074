"""An MPI library of this machine, as what builds and starts programs needs it."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from timpani.errors import UserError

SLURM = "srun"
"""The launcher of the batch system Slurm."""


@dataclass(frozen=True)
class ParentLibrary:
    """The library from which a vendor's is derived; its version is "" where the vendor's does not show it."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version or 'of an unknown version'}"


@dataclass(frozen=True)
class Mpi:
    """An MPI library that programs can be built for and started with.

    kind         the word for the library, as `--mpi` takes it and records have it
    name         its name, as people write it
    mpirun       the program that starts ranks: its launcher, or the batch system's
    wrapper      its C++ wrapper compiler; None where only its runtime is installed
    info         the program that describes the library, if it has one
    environment  variables that its compiler and its programs must find in theirs, where it lies in an unusual place
    parent       what it is derived from, where it is a vendor's
    library      the file of the library, where it is known: carried programs name it
    no_library   why that is unknown
    """

    kind: str
    name: str
    version: str
    mpirun: Path
    wrapper: Path | None
    info: Path | None
    environment: tuple[tuple[str, str], ...] = ()
    parent: ParentLibrary | None = None
    library: Path | None = None
    no_library: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.title} ({self.mpirun})"

    @property
    def title(self) -> str:
        """Name and version: `MPICH 4.0.2`, `Cray MPICH 8.1.25.17, based on MPICH 3.4a2`."""
        return f"{self.name} {self.version}".strip() + (f", based on {self.parent}" if self.parent else "")

    @property
    def cxx(self) -> Path:
        """The wrapper; UserError where something must be compiled without one."""
        if self.wrapper is None:
            raise UserError(
                f"{self} has no C++ wrapper compiler: only its runtime is installed",
                "install its compilers and headers, or choose another library with --mpi",
            )
        return self.wrapper

    @property
    def program(self) -> Path:
        """A program in the folder of the library: its wrapper, or its launcher."""
        return self.wrapper or self.mpirun

    @property
    def started_by_slurm(self) -> bool:
        """Whether Slurm's launcher starts its ranks, since it has none here."""
        return self.mpirun.name == SLURM

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version for comparisons: a vendor's library behaves as its parent of that version."""
        return version_numbers(self.parent.version if self.parent else self.version)


def version_numbers(version: str) -> tuple[int, ...]:
    """A version for comparisons: (5, 0, 11) of `5.0.11` and of `5.0.11rc1`."""
    return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", version))
