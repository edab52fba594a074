"""Find the MPI libraries of this machine: a launcher (mpirun or mpiexec) together with its own C++ wrapper compiler.

A library without a launcher, as on a Cray, is found by its wrapper, and started by the batch system's launcher. What
MPI_Get_library_version returns distinguishes a vendor's library from its parent. Installed libraries are asked for
their variants and for the sizes at which they change their protocol.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from timpani.errors import UserError, too_few_files, unknown
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.vendors import VENDORS, VendorLibrary
from timpani.native.announce import working
from timpani.native.carried import CARRIED, library_files
from timpani.native.library_version import LibraryVersion, library_version, version_of_file
from timpani.native.mpi import SLURM, Mpi

INSTALL = LIBRARIES["openmpi"].identity.installation
"""The source of a library for users who named none."""

# Debian installs several libraries into one folder and distinguishes them by a suffix, `mpirun.openmpi`.
_SUFFIXES = ("", ".openmpi", ".mpich")
_LAUNCHERS = tuple(name + suffix for suffix in _SUFFIXES for name in ("mpirun", "mpiexec"))
_LAUNCHERS += ("mpiexec.hydra",)  # last: next to another launcher it belongs to the same library
_SIMULATORS = ("smpirun",)

_VENDORS = {each.kind: each for each in VENDORS}
_WRAPPERS = tuple(dict.fromkeys((*(name for each in VENDORS for name in each.wrappers), "mpicxx", "mpic++")))
"""Wrapper compilers of libraries that have no launcher."""
_CXX_OF_CC = {"cc": "CC", "mpicc": "mpicxx", "mpixlc": "mpixlC", "mpifcc": "mpiFCC"}
"""By C compiler the C++ compiler next to it: Timpani's programs are C++."""
_CRAY = "CRAY"
"""Prefix of variables without which `CC` is not Cray's compiler."""

_ANSWER_SECONDS = 30  # enough on a slow network file system; a launcher that hangs must not hang Timpani


@dataclass(frozen=True)
class Unusable:
    """A launcher that was found but can't be used, and what to do about it. `kind` is its library's, if known."""

    mpirun: Path
    why: str
    fix: str
    kind: str | None = None


def find_mpis() -> list[Mpi]:
    """Each usable library once: those on PATH in its order, then the one of the running Python's environment."""
    return [found for found in search_mpis() if isinstance(found, Mpi)]


def search_mpis() -> list[Mpi | Unusable]:
    """All launchers and compilers that `find_mpis` examines, including unusable ones."""
    return list(_search(_everywhere()))


def _everywhere() -> list[Path]:
    return [*_path(), Path(sys.prefix) / "bin"]


def _search(folders: Sequence[Path]) -> Iterator[Mpi | Unusable]:
    """Libraries with a launcher, then those of other folders, which have a compiler only; each is asked when it is its
    turn: on a busy machine each takes seconds."""
    launched: set[Path] = set()
    unknown_launchers = []
    for each in _distinct(_programs(folders, _LAUNCHERS)):
        if each.kind:
            launched.update(folder.resolve() for folder in _folders(each))
            yield each
        else:
            unknown_launchers.append(each)
    others = [*_distinct(_programs([each for each in folders if each.resolve() not in launched], _wrapper_names()))]
    # A launcher that Timpani doesn't know is nothing to mend where its library is started in another way.
    usable = {each.program.parent for each in others if isinstance(each, Mpi)}
    yield from (each for each in unknown_launchers if each.mpirun.parent not in usable)
    yield from others


def _folders(found: Mpi | Unusable) -> tuple[Path, ...]:
    return (found.mpirun.parent, found.program.parent) if isinstance(found, Mpi) else (found.mpirun.parent,)


def find_simulator(library: Library) -> Mpi:
    """The simulating `library`: the first on PATH."""
    for found in _distinct(_programs(_path(), _SIMULATORS)):
        if isinstance(found, Mpi):
            return found
        raise UserError(found.why, found.fix)
    names = " or ".join(_SIMULATORS)
    raise UserError(f"no {names} found on PATH: {library.name} is missing", library.identity.installation)


def choose_mpi(wanted: str | None) -> Mpi:
    """The library to use: the first found; the first of a kind (`openmpi`, `mpich`); or the one at a path.

    The path is an installation prefix, its bin folder, the launcher itself, or a compiler.
    """
    if wanted in LIBRARIES and LIBRARIES[wanted].launcher.simulates:
        return find_simulator(LIBRARIES[wanted])
    if wanted is None or wanted in LIBRARIES:
        every = []
        for each in _search(_everywhere()):
            if isinstance(each, Mpi) and wanted in (None, each.kind):
                return each  # the others need not be asked
            every.append(each)
        found: Sequence[Mpi | Unusable] = [each for each in every if wanted in (None, each.kind)]
        what = f"no {LIBRARIES[wanted].name if wanted else 'MPI library'} found on PATH or in {sys.prefix}"
        step = ways_to_a_library(os.environ, LIBRARIES[wanted].identity.installation if wanted else INSTALL)
        derived = (each for each in every if each.kind in _VENDORS and _VENDORS[each.kind].parent == wanted)
        if vendors := next((each for each in derived if isinstance(each, Mpi)), None):
            step = f"`--mpi {vendors.kind}` selects {vendors.title}"
    else:
        path = Path(wanted).expanduser()
        if not os.access(path, os.F_OK):
            if os.sep in wanted:
                raise UserError(f"not found: {wanted}", "`timpani list mpis` shows the MPI libraries found")
            raise unknown("MPI library", wanted, LIBRARIES, "timpani list mpis")
        found = _found_at(path.absolute())
        what = f"no MPI library at {wanted}"
        step = "name its launcher, its bin folder or the folder above; `timpani list mpis` shows those found"
    if usable := [each for each in found if isinstance(each, Mpi)]:
        return usable[0]
    if broken := [each for each in found if isinstance(each, Unusable)]:
        raise UserError(f"{what} can be used: {broken[0].why}", broken[0].fix)
    raise UserError(what, step)


def _found_at(path: Path) -> Sequence[Mpi | Unusable]:
    if path.is_dir():
        return [*_search([path, path / "bin"])]
    if path.name in _CXX_OF_CC:
        path = path.with_name(_CXX_OF_CC[path.name])
    if path.name == SLURM:
        return [each for each in search_mpis() if isinstance(each, Mpi) and each.started_by_slurm]
    if path.name in _WRAPPERS:
        launched = _distinct(_programs([path.parent], _LAUNCHERS))
        return [each for each in launched if isinstance(each, Mpi) and each.wrapper == path] or [*_distinct([path])]
    return [*_distinct([path])]


def first_mpi() -> Mpi | None:
    """The library whose compiler also builds the programs without MPI, so that one build is enough; None without a
    usable library."""
    return next((each for each in _search(_everywhere()) if isinstance(each, Mpi)), None)


def mpi_of_launcher(program: str) -> Mpi | None:
    """The library to which the launcher `program` belongs, as a shell would find it; None for another program."""
    path = Path(shutil.which(program) or "").absolute()
    launchers = {launcher.resolve() for launcher in _programs([path.parent], _LAUNCHERS)}
    if path.resolve() not in launchers:  # another program must not be run
        return None
    found = _look_at(path)
    return found if isinstance(found, Mpi) else None


def _path() -> list[Path]:
    return [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]


def _programs(folders: Iterable[Path], names: Sequence[str]) -> Iterator[Path]:
    for path in (folder.absolute() / name for folder in folders for name in names):
        if os.access(path, os.X_OK) and path.is_file():  # in this order: PATH may name folders closed to us
            yield path


def _distinct(programs: Iterable[Path]) -> Iterator[Mpi | Unusable]:
    """The libraries of these programs, each once."""
    asked: set[Path] = set()
    found: set[tuple[object, ...]] = set()
    with working("asking launchers and compilers for their MPI library"):
        for program in programs:
            real = program.resolve()
            if real in asked:
                continue
            asked.add(real)
            mpi = _look_at(program)
            name = (mpi.kind, mpi.version) if isinstance(mpi, Mpi) else (mpi.why,)
            if (*name, real.parent) not in found:
                found.add((*name, real.parent))
                yield mpi


def _wrapper_names() -> list[str]:
    cray = any(name.startswith(_CRAY) for name in os.environ)
    return [name for name in _WRAPPERS if cray or name != "CC"]


def _look_at(program: Path) -> Mpi | Unusable:
    if program.name in _WRAPPERS:
        return _look_at_wrapper(program)
    said = _output_of(program, "--version")
    library, version = _library_and_version(said)
    if library is None:
        first = next(iter(said.splitlines()), "nothing").strip()
        *names, last = (each.name for each in LIBRARIES.values() if each.kind not in _VENDORS)
        known = f"{', '.join(names)} or {last}, nor of a library derived from them"
        return Unusable(program, f"{program} is no launcher of {known} (it says '{first}')", INSTALL)
    return _with_wrapper(program, library, version)


def _with_wrapper(launcher: Path, library: Library, version: str) -> Mpi | Unusable:
    """The library of a launcher that says it is `library` of a version, with its file and the wrapper in its folder."""
    identity = library.identity
    folders = tuple(dict.fromkeys((launcher.parent, launcher.resolve().parent)))
    starter = launcher.parent / identity.launcher if identity.launcher else launcher
    info = next((path for folder in folders if (path := folder / identity.info).is_file()), None)
    runtime = Mpi(
        library.kind, library.name, version, starter, None, info, tuple(identity.environment(launcher).items())
    )
    runtime, reported = _with_file(runtime, library, folders)
    names = dict.fromkeys((*identity.wrappers, *(name for each in _derived(library) for name in each.wrappers)))
    others = []
    for wrapper in (folder / (name + end) for folder in folders for end in _SUFFIXES for name in names):
        if not wrapper.is_file():
            continue
        if mpi := _identified(replace(runtime, wrapper=wrapper), library, reported):
            return mpi
        others.append(str(wrapper))
    if reported and CARRIED.is_dir() and (mpi := _identified(runtime, library, reported)):
        return mpi
    what = f"{launcher} ({library.name} {version})"
    if others:
        why = f"no C++ compiler of {what} is in its folder; {', '.join(others)} is another library's"
    else:
        reason = f"; carried programs don't suit it: {runtime.no_library}" if CARRIED.is_dir() else ""
        why = f"{what} has no C++ wrapper compiler in its folder: only its runtime is installed{reason}"
    return Unusable(launcher, why, identity.development, library.kind)


def _with_file(found: Mpi, library: Library, folders: Sequence[Path]) -> tuple[Mpi, LibraryVersion | None]:
    """`found`, a launcher in `folders`, with the file of its library, and what this reports; None if unknown."""
    why = f"no file of a carried family lies next to {found.mpirun}"
    for file in library_files(folders):
        reported = version_of_file(file, dict(found.environment))
        if isinstance(reported, str):
            why = f"{file} can't be loaded here ({reported})"
            continue
        vendor = any(each.recognized(found, reported) for each in _derived(library))
        match = library.identity.reports and library.identity.reports.search(reported.text)
        if vendor or (match and _matches(found.version, match["version"])):
            return replace(found, library=file), reported
        why = f"{file} is of another library or version than {found.mpirun}"
    return replace(found, no_library=why), None


def _derived(library: Library) -> list[VendorLibrary]:
    """The vendors' libraries that a launcher of `library` may start."""
    return [each for each in VENDORS if library.kind in (each.kind, each.parent)]


def _identified(found: Mpi, library: Library, reported: LibraryVersion | None) -> Mpi | None:
    """A launcher and a wrapper as one library: a vendor's, or the launcher's; None where they don't belong together.

    reported  what the file of the library reports; None where only the wrapper knows
    """
    vendors = _derived(library)
    if vendors and not reported and found.wrapper:
        reported = library_version(found.wrapper, dict(found.environment))
    parent = replace(found, name=LIBRARIES[vendors[0].parent].name) if vendors else found
    for each in vendors:
        if mpi := each.recognized(parent, reported):
            return mpi
    if library.kind in _VENDORS:  # its launcher says so
        return _VENDORS[library.kind].as_vendor(parent, found.version, "")
    return found if found.wrapper is None or _same_version(found, library) else None


def _look_at_wrapper(wrapper: Path) -> Mpi | Unusable:
    """The library whose programs `wrapper` compiles, started by the batch system."""
    reported = library_version(wrapper, {})
    if reported is None:
        return Unusable(wrapper, f"{wrapper} compiles no MPI program that runs here", INSTALL)
    found = _reported_library(wrapper, reported)
    if found is None:
        first = next(iter(reported.text.splitlines()), "nothing").strip()
        return Unusable(wrapper, f"{wrapper} is of a library that Timpani does not know (it says '{first}')", INSTALL)
    starter = shutil.which("mpiexec")
    place = _VENDORS[found.kind].mpiexec if found.kind in _VENDORS else None
    if not (starter and place and place.search(os.path.realpath(starter))):
        starter = shutil.which(SLURM)
    if starter is None:
        why = f"{found.title} ({wrapper}) has no launcher here: no mpirun or mpiexec in its folder, no srun on PATH"
        return Unusable(wrapper, why, "load the module of the batch system's launcher", found.kind)
    return replace(found, mpirun=Path(starter))


def _reported_library(wrapper: Path, reported: LibraryVersion) -> Mpi | None:
    """The library by what it reports alone, not yet with a launcher."""
    for library in LIBRARIES.values():
        found = Mpi(library.kind, library.name, "", wrapper, wrapper, None)
        for vendor in (each for each in VENDORS if each.parent == library.kind):
            if mpi := vendor.recognized(found, reported):
                return mpi
        pattern = library.identity.reports
        if pattern and (match := pattern.search(reported.text)):
            return replace(found, version=match["version"])
    return None


def _library_and_version(said: str) -> tuple[Library | None, str]:
    for library in LIBRARIES.values():
        if match := library.identity.launcher_says.search(said):
            return library, match["version"]
    return None, ""


def _same_version(found: Mpi, library: Library) -> bool:
    """Whether the compiler reports the launcher's version, maybe without its last part."""
    match = library.identity.wrapper_says.search(_output_of(found.cxx, library.identity.wrapper_question))
    return match is not None and _matches(found.version, match["version"])


def _matches(version: str, reported: str) -> bool:
    """Whether these are one version, of which the second may lack its last part."""
    return f"{version}.".startswith(f"{reported}.")


def _output_of(program: Path, question: str) -> str:
    """What `program` answers on both streams; nothing when it can't be run. A script finds the programs next to it."""
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
    except (OSError, subprocess.TimeoutExpired) as error:
        if too_few_files(error):
            raise
        return ""
    return answer.stdout.decode(errors="replace")


def ways_to_a_library(environment: Mapping[str, str], installation: str = "") -> str:
    """The next step for a user whose library was not found, or who wants another one.

    installation  the commands that install or load the library, if these may be needed
    """
    *others, last = filter(None, (*_loading(environment), "name its folder with --mpi", installation))
    return f"{', '.join(others)}, or {last}" if others else last


def _loading(environment: Mapping[str, str]) -> Iterator[str]:
    """The commands of what manages software here: modules, Spack, conda."""
    if {"LMOD_CMD", "MODULESHOME", "BASH_FUNC_module%%"} & environment.keys():
        yield "load its module (`module avail mpi`, `module load NAME`)"
    if "SPACK_ROOT" in environment or shutil.which("spack", path=environment.get("PATH")):
        yield "load its Spack package (`spack find mpi`, `spack load NAME`)"
    if {"CONDA_EXE", "CONDA_PREFIX"} & environment.keys():
        yield "activate its conda environment (`conda activate NAME`)"


_BETWEEN_NODES = re.compile(r"btl_(openib|tcp|ofi|uct|ugni|usnic|portals4)_.+|MPIR_CVAR_CH4_(OFI|UCX)_.+")
"""Limits of transports that libraries take between nodes; within one, shared memory takes their place."""

_WITHIN_NODE = re.compile(r"btl_(vader|sm|smcuda)_.+")
"""Limits of shared memory, which reaches no other node."""


def within_node(name: str) -> bool:
    """Whether the limit of this name may be one of messages that don't leave their node."""
    return not _BETWEEN_NODES.fullmatch(name)


def between_nodes(name: str) -> bool:
    """Whether the limit of this name may be one of messages from node to node."""
    return not _WITHIN_NODE.fullmatch(name)


def eager_limits(kind: str, version: str) -> dict[str, int]:
    """Bytes of each limit by the library's name for it; none without such a library here, or if it doesn't show them.

    They are the present settings.
    """
    for mpi in find_mpis():
        if (mpi.kind, mpi.version) == (kind, version):
            try:
                limits = LIBRARIES[kind].algorithms.eager_limits(mpi)
            except (UserError, OSError):  # a fit is worth having without them
                return {}
            return {name: limit for name, limit in sorted(limits.items()) if limit > 0}
    return {}
