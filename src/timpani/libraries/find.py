"""Find the MPI libraries of this machine: a launcher (mpirun or mpiexec) together with its own C++ wrapper compiler."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError, unknown
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

INSTALL = LIBRARIES["openmpi"].identity.installation
"""Where a library comes from for who names none."""

# Debian installs several libraries into one folder and tells them apart by a suffix, `mpirun.openmpi`.
_SUFFIXES = ("", ".openmpi", ".mpich")
_LAUNCHERS = tuple(name + suffix for suffix in _SUFFIXES for name in ("mpirun", "mpiexec"))
_LAUNCHERS += ("mpiexec.hydra",)  # last: where others are beside it, it is of the same library under another name
_SIMULATORS = ("smpirun",)

_ANSWER_SECONDS = 30  # a launcher on a slow network file system needs some; one that hangs must not hang us


@dataclass(frozen=True)
class Unusable:
    """A launcher that was found but can't be used, and what to do about it. `kind` is its library's, where it tells."""

    mpirun: Path
    why: str
    fix: str
    kind: str | None = None


def find_mpis() -> list[Mpi]:
    """Each usable library once: those on PATH in its order, then the one of the running Python's environment."""
    return [found for found in search_mpis() if isinstance(found, Mpi)]


def search_mpis() -> list[Mpi | Unusable]:
    """All that `find_mpis` looks at, also what can't be used."""
    return _once(_launchers([*_path(), Path(sys.prefix) / "bin"]))


def find_simulator(library: Library) -> Mpi:
    """The simulating `library`: the first on PATH."""
    for found in _once(_launchers(_path(), _SIMULATORS)):
        if isinstance(found, Mpi):
            return found
        raise UserError(found.why, found.fix)
    names = " or ".join(_SIMULATORS)
    raise UserError(f"no {names} found on PATH: {library.name} is missing", library.identity.installation)


def choose_mpi(wanted: str | None) -> Mpi:
    """The library to use: the first found; the first of a kind (`openmpi`, `mpich`); or the one at a path.

    The path is an installation prefix, its bin folder, or the launcher itself.
    """
    if wanted in LIBRARIES and LIBRARIES[wanted].simulates:
        return find_simulator(LIBRARIES[wanted])
    if wanted is None or wanted in LIBRARIES:
        found = [each for each in search_mpis() if wanted in (None, each.kind)]
        what = f"no {LIBRARIES[wanted].name if wanted else 'MPI library'} found on PATH or in {sys.prefix}"
        step = LIBRARIES[wanted].identity.installation if wanted else INSTALL
    else:
        path = Path(wanted).expanduser()
        if not os.access(path, os.F_OK):
            if os.sep in wanted:
                raise UserError(f"not found: {wanted}", "`timpani list mpis` shows the MPI libraries found")
            raise unknown("MPI library", wanted, LIBRARIES, "timpani list mpis")
        found = _once(_launchers([path, path / "bin"]) if path.is_dir() else [path.absolute()])
        what = f"no MPI library at {wanted}"
        step = "name its launcher, its bin folder or the folder above; `timpani list mpis` shows those found"
    if usable := [each for each in found if isinstance(each, Mpi)]:
        return usable[0]
    if broken := [each for each in found if isinstance(each, Unusable)]:
        raise UserError(f"{what} can be used: {broken[0].why}", broken[0].fix)
    raise UserError(what, step)


def first_mpi() -> Mpi | None:
    """The library that programs which use none are built with, so that one build serves them and measurements; None
    where none can be used."""
    return next(iter(find_mpis()), None)


def mpi_of_launcher(program: str) -> Mpi | None:
    """The library whose launcher `program` is, as a shell would find it; None where it is none."""
    path = Path(shutil.which(program) or "").absolute()
    launchers = {launcher.resolve() for launcher in _launchers([path.parent])}
    if path.resolve() not in launchers:  # whatever else it is must not be run
        return None
    found = _look_at(path)
    return found if isinstance(found, Mpi) else None


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
    library, version = _library_and_version(said)
    if library is None:
        first = next(iter(said.splitlines()), "nothing").strip()
        *names, last = (each.name for each in LIBRARIES.values())
        known = f"{', '.join(names)} or {last}"
        return Unusable(launcher, f"{launcher} is no launcher of {known} (it says '{first}')", INSTALL)
    identity = library.identity
    environment = tuple(identity.environment(launcher).items())
    folders = dict.fromkeys((launcher.parent, launcher.resolve().parent))
    others = []
    wrappers = (folder / (name + end) for folder in folders for end in _SUFFIXES for name in identity.wrappers)
    for wrapper in wrappers:
        if not wrapper.is_file():
            continue
        if _is_of(version, _wrapper_version(wrapper, library)):
            info = next((path for folder in folders if (path := folder / identity.info).is_file()), None)
            starter = launcher.parent / identity.launcher if identity.launcher else launcher
            return Mpi(library.kind, library.name, version, starter, wrapper, info, environment)
        others.append(str(wrapper))
    found = f"{launcher} ({library.kind} {version})"
    if others:
        why = f"no C++ compiler of {found} is beside it; {', '.join(others)} is another library's"
    else:
        why = f"{found} has no C++ wrapper compiler beside it: only its runtime is installed"
    return Unusable(launcher, why, identity.development, library.kind)


def _library_and_version(said: str) -> tuple[Library | None, str]:
    for library in LIBRARIES.values():
        if match := library.identity.launcher_says.search(said):
            return library, match["version"]
    return None, ""


def _is_of(version: str, told: str | None) -> bool:
    """Whether a compiler that tells this version, perhaps without its last part, belongs to a launcher of `version`."""
    return told is not None and (version == told or version.startswith(f"{told}."))


def _wrapper_version(wrapper: Path, library: Library) -> str | None:
    match = library.identity.wrapper_says.search(_ask(wrapper, library.identity.wrapper_question))
    return match["version"] if match else None


def _ask(program: Path, question: str) -> str:
    """What `program` answers on both streams; nothing when it can't be run. A script finds the programs beside it."""
    path = os.pathsep.join((str(program.parent), os.environ.get("PATH", "")))
    try:
        answer = subprocess.run(
            [program, question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_SECONDS,
            check=False,
            env={**os.environ, "PATH": path},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
