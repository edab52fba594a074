"""Build the native programs for one MPI library, once for each combination of sources, library and compiler."""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from timpani.errors import UserError
from timpani.native.die_with_parent import die_with_parent
from timpani.native.mpi import Mpi
from timpani.native.sources import ALGORITHMS, further_algorithms, sources
from timpani.native.wrapper import missing_compiler

_FLAGS = ("CXXFLAGS", "LDFLAGS")  # the environment that CMake reads flags from
_UNFINISHED = "building-"
_ERROR_LINES = 5


def build(
    mpi: Mpi | None, source: Path | None = None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()
) -> Path:
    """The folder with the programs of `source` (ours by default), built for `mpi` or found in the cache.

    Without a library they are those that use none: the verifier and the simulator, by any C++ compiler.
    Timpani's programs include the algorithms of `further_algorithms`. `options` are CMake's, such as
    `-DTIMPANI_TESTS=ON`; without any, the programs are those that measure. `programs` names the targets to build,
    where not all are wanted; a folder with all of them is taken where it is there.
    """
    if source is None:
        source = sources()
        if further := further_algorithms():
            options = (*options, f"-D{ALGORITHMS}={further}")
    cache = cache_folder()
    library = f"{mpi.kind}-{mpi.version}" if mpi else "no-mpi"
    done = cache / f"{library}-{_key(mpi, source, options)}"
    if programs and not done.is_dir():
        done = cache / f"{library}-{_key(mpi, source, (*options, *programs))}"
    if done.is_dir():
        return done
    with _locked(cache):
        if done.is_dir():  # another process built it while we waited
            return done
        for stale in cache.glob(f"{_UNFINISHED}*"):  # of a process that was killed: whoever builds holds the lock
            shutil.rmtree(stale, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=cache) as folder:
            built = Path(folder) / "programs"
            _compile(mpi, source, (options, programs), Path(folder) / "tree", built)
            built.rename(done)
    return done


def cache_folder() -> Path:
    """Where built programs are kept, made if need be: `$XDG_CACHE_HOME/timpani`, `~/.cache/timpani`, or, where neither
    can be written, a folder of the user's own among the temporary files."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
        folder = base / "timpani"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home directory is known
        return temporary_folder()


def tool(name: str) -> Path | None:
    """`cmake` or `ninja`: beside the running Python, where pip puts it, or on PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return Path(found) if found else None


def temporary_folder() -> Path:
    """A folder of the user's own among the temporary files, made if need be."""
    folder = Path(tempfile.gettempdir()) / f"timpani-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError as error:
        raise UserError(
            f"no folder for temporary files: {error}", "set TMPDIR or XDG_CACHE_HOME to one you can write"
        ) from None
    # Others may write where temporary files are: never run programs from a folder that someone else made.
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & 0o077:
        raise UserError(
            f"{folder} can be changed by other users", "remove it, or set XDG_CACHE_HOME to a folder of your own"
        )
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone in `folder` among all processes; the system lets go of the lock even when we are killed."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _compiler(mpi: Mpi | None) -> Path:
    """The library's own, which knows where it lies; without one `$CXX`, or the first that CMake would take."""
    if mpi:
        return mpi.cxx
    names = (os.environ.get("CXX", ""), "c++", "g++", "clang++")
    found = next((path for path in map(shutil.which, filter(None, names)) if path), None)
    if not found:
        raise UserError("no C++ compiler found", "`apt install g++`, or name one in the environment's CXX")
    return Path(found)


def _environment(mpi: Mpi | None) -> dict[str, str]:
    return dict(mpi.environment) if mpi else {}


def _key(mpi: Mpi | None, source: Path, wanted: tuple[str, ...]) -> str:
    """A hash of all that the programs depend on."""
    cxx = _compiler(mpi)
    compiler = _run([str(cxx), "--version"], _environment(mpi))
    if compiler.returncode != 0:
        raise missing_compiler(cxx, _environment(mpi)) or UserError(
            f"{cxx} can't run a C++ compiler: {_first_errors(compiler.stdout)}",
            "`apt install g++` or load a compiler",
        )
    flags = [os.environ.get(name, "") for name in _FLAGS]
    digest = hashlib.sha256(repr((mpi or cxx, compiler.stdout, flags, wanted, platform.machine())).encode())
    files = {str(path.relative_to(source)): path for path in source.rglob("*") if path.is_file()}
    if further := further_algorithms():
        files |= {str(path): path for path in further.glob("*.[ch]pp")}
    for name, file in sorted(files.items()):
        content = file.read_bytes()
        digest.update(f"\0{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _compile(
    mpi: Mpi | None, source: Path, wanted: tuple[tuple[str, ...], tuple[str, ...]], tree: Path, folder: Path
) -> None:
    cxx = _compiler(mpi)
    options, programs = wanted
    tools = {name: tool(name) for name in ("cmake", "ninja")}
    if missing := [name for name, path in tools.items() if path is None]:
        raise UserError(f"no {' and no '.join(missing)} found", f"`pip install {' '.join(missing)}`")
    configure = [
        *(str(tools["cmake"]), "-S", str(source), "-B", str(tree), "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={tools['ninja']}",
        f"-DCMAKE_CXX_COMPILER={cxx}",
        *(() if mpi else ("-DTIMPANI_MPI=OFF",)),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={folder}",
        *options,
    ]
    # Not by `cmake --build`, which would leave it running: ninja ends its compilers.
    make = [str(tools["ninja"]), "-C", str(tree), *programs]
    for step in (configure, make):
        result = _run(step, _environment(mpi))
        if result.returncode != 0:
            errors = _first_errors(result.stdout)
            further = further_algorithms()
            if further and str(further) in errors:
                next_step = f"fix the file, or unset {ALGORITHMS} to build without the folder"
            elif mpi:
                next_step = "choose another library with --mpi, or fix this one; `timpani doctor` checks it"
            else:
                next_step = "name another C++ compiler in the environment's CXX"
            raise UserError(f"the native programs don't build with {cxx}: {errors}", next_step)


def _run(command: list[str], environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **environment, "LC_ALL": "C"},  # English, for `_first_errors`
            preexec_fn=die_with_parent,
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, stdout=str(error))


def _first_errors(output: str) -> str:
    """The lines that say what went wrong, else the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.startswith("CMake Error"):  # what is wrong stands in the lines below
            return "\n".join(lines[number : number + _ERROR_LINES])
    errors = [line for line in lines if re.search(r"(?<!-)\berror\b", line, re.IGNORECASE)]
    return "\n".join(errors[:_ERROR_LINES] or lines[-_ERROR_LINES:])
