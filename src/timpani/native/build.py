"""Build the native programs for one MPI library, once for each combination of sources, library and compiler."""

import errno
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.native.die_with_parent import die_with_parent
from timpani.native.held_folder import held, remove_abandoned
from timpani.native.mpi import Mpi
from timpani.native.sources import ALGORITHMS, further_algorithms, sources
from timpani.native.wrapper import missing_compiler

_FLAGS = ("CXXFLAGS", "LDFLAGS")  # the environment that CMake reads flags from
_UNFINISHED = "building-"
_ERROR_LINES = 5
_SECONDS = "build-seconds"
"""The file, next to the built programs, that holds the seconds of the build and the names of the programs wanted."""
_LEAST_DISK_SPACE = 2**16
"""Bytes: compilers that can't write their last block print other reasons."""


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
    what = f"{', '.join(programs) or 'the programs'} for {f'{mpi.name} {mpi.version}' if mpi else 'use without MPI'}"
    expected = _expected(cache, library, programs)
    unfinished = cache / f"{_UNFINISHED}{done.name}"
    with held(unfinished, lambda process: _say(f"waiting for process {process}, which compiles {what}, {expected}")):
        if done.is_dir():  # another process built it while we waited
            return done
        remove_abandoned(cache.glob(f"{_UNFINISHED}*"))
        _say(f"compiling {what}; please wait {expected}")
        began = time.monotonic()
        built = unfinished / "programs"
        _compile(mpi, source, (options, programs), unfinished / "tree", built)
        (built / _SECONDS).write_text(f"{time.monotonic() - began:.0f} {' '.join(programs)}")
        built.rename(done)
    return done


def _expected(cache: Path, library: str, programs: tuple[str, ...]) -> str:
    """How long a build of `programs` for `library` takes, in words: as long as the last one, or a rough figure."""
    earlier = sorted(cache.glob(f"{library}-*/{_SECONDS}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in earlier:
        seconds, *built = path.read_text().split()
        if built == list(programs):
            return f"about {max(1, int(seconds))} s (the time of the last build for this library)"
    return "about 1 minute on an idle machine, several minutes on a busy one (a rough figure)"


def _say(text: str) -> None:
    """Also in a batch job, since a build is the longest silence of most commands."""
    print(f"timpani: {text}", file=sys.stderr, flush=True)


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


def temporary_folder(name: str = "timpani") -> Path:
    """A folder that only this user can use among the temporary files, called `name` and made if need be."""
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
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
            f"{folder} can be changed by other users",
            "remove it, or set TMPDIR and XDG_CACHE_HOME to folders of your own",
        )
    return folder


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
            if _is_full(tree, result.stdout):
                raise UserError(
                    f"the native programs can't be built in {tree.parents[1]}: the disk is full",
                    "make room, or set XDG_CACHE_HOME to a folder on another disk",
                )
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


def _is_full(folder: Path, output: str) -> bool:
    """Whether the disk of `folder` has no room, or a program whose `output` this is printed so."""
    disk = os.statvfs(folder.parent)
    nearly = disk.f_bavail * disk.f_frsize < _LEAST_DISK_SPACE
    return nearly or any(os.strerror(number) in output for number in (errno.ENOSPC, errno.EDQUOT))


def _first_errors(output: str) -> str:
    """The lines that say what went wrong, else the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.startswith("CMake Error"):  # what is wrong stands in the lines below
            return "\n".join(lines[number : number + _ERROR_LINES])
    errors = [line for line in lines if re.search(r"(?<!-)\berror\b", line, re.IGNORECASE)]
    return "\n".join(errors[:_ERROR_LINES] or lines[-_ERROR_LINES:])
