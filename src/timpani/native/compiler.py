"""Which C++ compiler builds what, and how: CMake configures, ninja builds; what goes wrong is one clear error.

An MPI library has a wrapper, and the compiler that the wrapper calls.
"""

import errno
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from timpani.errors import UserError, too_few_files
from timpani.native.announce import Units
from timpani.native.cache import cache_folder, cached
from timpani.native.children import die_with_parent
from timpani.native.mpi import Mpi
from timpani.native.packages import install_command

_VARIABLES = ("OMPI_CXX", "MPICH_CXX", "I_MPI_CXX")
"""By which users name another compiler to Open MPI's, MPICH's and Intel MPI's wrappers."""
_CHOICES = ("", "c++", "g++", "clang++")
"""What builds where there is no MPI library: `$CXX`, or the first of these on PATH."""
_COMPILER_NAME = re.compile(r"[a-z]+\+\+[^/]*$")
"""The end of a compiler's path, without what its toolchain's other programs begin with."""
_BINARY_INTERFACE = ("-m", "-stdlib=", "-D_GLIBCXX_", "--target=", "--sysroot=", "--gcc-", "-fabi-", "-fsanitize=")
"""How options begin that a wrapper adds and without which objects could not be linked with those that it compiles. (All
else that it adds is the library's: folders, names, what its packager prefers.)"""
_IDENTITY = "identity"


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler.

    command      the program, and the words that always follow it
    environment  variables that it must find, in addition to this process's
    wrapper      the library's, if that calls it
    """

    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    wrapper: Path | None = None

    def __str__(self) -> str:
        return " ".join(self.command)

    @cached_property
    def identity(self) -> str:
        """What distinguishes it from other compilers: `g++` and `c++`, where both are one program, have the same.

        Where it can't run, as on compute nodes without a compiler, it is the identity that `remember` stored: programs
        that it built are then found. UserError where nothing is stored either.
        """
        program, *others = self.command
        try:
            version = self._version().removeprefix(Path(program).name)
        except UserError:
            folder = cached(self._folder)
            if folder and (file := folder / _IDENTITY).is_file():
                return file.read_text()
            raise
        return repr((os.path.realpath(shutil.which(program) or program), others, version))

    def check(self) -> None:
        """UserError where it can't run."""
        self._version()

    def remember(self) -> None:
        """Store its identity with the programs that it built."""
        folder = cache_folder() / self._folder
        folder.mkdir(exist_ok=True)
        unfinished = folder / str(os.getpid())
        unfinished.write_text(self.identity)
        unfinished.replace(folder / _IDENTITY)

    def _version(self) -> str:
        answer = run_tool((*self.command, "--version"), dict(self.environment), stderr=subprocess.PIPE)
        if answer.returncode == 0:
            return answer.stdout
        raise missing_compiler(self.wrapper or Path(self.command[0]), dict(self.environment)) or UserError(
            f"{self} can't run a C++ compiler: {(answer.stderr or answer.stdout).strip()}",
            f"{install_command('g++')} or load a compiler",
        )

    @property
    def _folder(self) -> str:
        """The name, in the cache, of the folder with its identity."""
        return "compiler-" + hashlib.sha256(repr((self.command, self.environment)).encode()).hexdigest()[:16]


def library_compiler(mpi: Mpi) -> Compiler:
    """The library's wrapper, which knows where the library lies."""
    return Compiler((str(mpi.cxx),), mpi.environment)


def compiler_without_mpi(mpi: Mpi | None) -> Compiler:
    """What builds the programs that use no MPI library, and what is linked with the programs of `mpi`.

    It is the compiler that the wrapper of `mpi` calls; or the wrapper, if it doesn't show what it calls. Without a
    wrapper it is any compiler; UserError without a compiler.
    """
    if mpi is None or mpi.wrapper is None:
        named = (os.environ.get("CXX", ""), *_CHOICES)
        found = next((path for path in map(shutil.which, filter(None, named)) if path), None)
        if not found:
            raise UserError("no C++ compiler found", f"{install_command('g++')}, or name one in the environment's CXX")
        return Compiler((found,))
    shown = shown_command(mpi.cxx, dict(mpi.environment))
    if not shown:
        return library_compiler(mpi)
    # Several words where a user named them: `OMPI_CXX="ccache g++"`.
    program, *words = takewhile(lambda word: not word.startswith("-"), shown)
    kept = [word for word in shown if word.startswith(_BINARY_INTERFACE)]
    return Compiler((program, *words, *kept), mpi.environment, mpi.cxx)


def missing_compiler(cxx: Path, environment: Mapping[str, str]) -> UserError | None:
    """The error for a wrapper `cxx` that calls a program which isn't on PATH; None for other wrappers and programs.

    environment  variables that the wrapper must find, in addition to this process's
    """
    words = shown_command(cxx, environment)
    if not words or shutil.which(words[0]):
        return None
    variable = next((name for name in _VARIABLES if os.environ.get(name, "").split()[:1] == words[:1]), None)
    if variable is None:
        other = shutil.which(os.environ.get("CXX", "")) or (shutil.which("g++") and "g++")  # conda: CXX names its own
        step = (
            f"install that compiler, or name another one in the wrapper's variable, such as OMPI_CXX={other}"
            if other
            else "install that compiler, or run the command first where it is: what was built there is then used here"
        )
        return UserError(f"{cxx} can't compile: it was built to call {words[0]}, which is not on PATH", step)
    what = f"{cxx} can't compile: it calls {words[0]}, which {variable} names and which is not on PATH"
    return UserError(what, f"`unset {variable}`, or install that compiler")


def archiver_options(compiler: Compiler) -> tuple[str, ...]:
    """CMake's options for archivers whose names begin with the target's, as the compiler's does in a conda environment.

    CMake finds them for such a compiler, but not for a wrapper that calls it. None where `ar` is on PATH.
    """
    if shutil.which("ar"):
        return ()
    called = shown_command(Path(compiler.command[0]), dict(compiler.environment)) or compiler.command
    prefix = _COMPILER_NAME.sub("", shutil.which(called[0]) or called[0])
    names = [name for name in ("ar", "ranlib") if Path(prefix + name).is_file()]
    return tuple(f"-DCMAKE_{name.upper()}={prefix}{name}" for name in names)


def shown_command(cxx: Path, environment: Mapping[str, str]) -> list[str]:
    """The words of the command that the wrapper `cxx` calls; none where it doesn't show them."""
    shown = run_tool((str(cxx), "-show"), environment, stderr=subprocess.DEVNULL)
    try:
        words = [] if shown.returncode else shlex.split(shown.stdout, comments=False)
    except ValueError:
        return []
    return [] if not words or words[0].startswith("-") else words


def run_tool(
    command: Sequence[str], environment: Mapping[str, str], **options: Any
) -> "subprocess.CompletedProcess[str]":
    """A compiler or a build tool, run to its end in English; status 127, with the reason, where it can't be started.

    environment  variables that it must find, in addition to this process's
    options      of `subprocess.run`
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **environment, "LC_ALL": "C"},
            **options,
        )
    except OSError as error:
        if too_few_files(error):
            raise
        return subprocess.CompletedProcess(command, 127, stdout=str(error), stderr="")


_CCACHE = "ccache"
_ERROR_LINES = 5
_OUTPUT_OF_COMPILER = "It fails with the following output:"
"""What CMake prints before the output of a compiler that can't build a test program."""
_MIN_DISK_SPACE = 2**23
"""Bytes: tools that can't write print other reasons, and remove the file that they began, of a few megabytes."""


def compile_sources(
    source: Path,
    compiler: Compiler,
    options: tuple[str, ...],
    programs: tuple[str, ...],
    tree: Path,
    folder: Path,
    units: Units | None = None,
) -> str:
    """Build `programs` (all of them by default) of `source` in `tree`, so that they and the archives lie in `folder`.
    `units` counts what is compiled.

    Returns "", or what the compiler or CMake says is wrong. UserError where the tools are missing or the disk is full.
    """
    tools = {name: tool(name) for name in ("cmake", "ninja")}
    if missing := [name for name, path in tools.items() if path is None]:
        raise UserError(f"no {' and no '.join(missing)} found", f"`pip install {' '.join(missing)}`")
    configure = [
        *(str(tools["cmake"]), "-S", str(source), "-B", str(tree), "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={tools['ninja']}",
        f"-DCMAKE_CXX_COMPILER={';'.join(compiler.command)}",
        *archiver_options(compiler),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={folder}",
        *options,
    ]
    # Not by `cmake --build`, which would leave it running: ninja ends its compilers.
    make = [str(tools["ninja"]), "-C", str(tree), *programs]
    environment = _object_cache(compiler) | dict(compiler.environment)
    for step in (configure, make):
        status, printed = _run_step(step, environment, units or Units())
        if status != 0:
            if _is_full(tree, printed):
                raise UserError(
                    f"the native programs can't be built in {tree.parents[1]}: the disk is full",
                    "make room, or set XDG_CACHE_HOME to a folder on another disk",
                )
            return _first_errors(printed)
    return ""


def _run_step(command: Sequence[str], environment: Mapping[str, str], units: Units) -> tuple[int, str]:
    """The status of CMake or ninja, and what it prints; ninja's lines begin with the number of units done."""
    lines: list[str] = []
    variables = {**os.environ, **environment, "LC_ALL": "C", "NINJA_STATUS": "[%f/%t] "}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=variables,
        preexec_fn=die_with_parent,
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line)
                if counted := re.match(r"\[(\d+)/(\d+)\] ", line):
                    units.done, units.total = map(int, counted.groups())
        except BaseException:  # an interrupt: ninja then ends its compilers
            process.terminate()
            raise
    return process.returncode, "".join(lines)


def _object_cache(compiler: Compiler) -> dict[str, str]:
    """Variables by which ccache, where it is installed, compiles again only what changed; the user's own come first.

    None where the compiler's command calls ccache already.
    """
    called = (*compiler.command, *shown_command(Path(compiler.command[0]), dict(compiler.environment)))
    if not shutil.which(_CCACHE) or any(Path(word).name == _CCACHE for word in called):
        return {}
    variables = {
        "CMAKE_CXX_COMPILER_LAUNCHER": _CCACHE,
        "CCACHE_DIR": str(cache_folder() / _CCACHE),
        "CCACHE_MAXSIZE": "500M",
        "CCACHE_BASEDIR": str(cache_folder()),  # builds lie in folders of different names
    }
    return {name: value for name, value in variables.items() if name not in os.environ}


def tool(name: str) -> Path | None:
    """`cmake` or `ninja`: next to the running Python, where pip puts it, or on PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return Path(found) if found else None


def _is_full(folder: Path, output: str) -> bool:
    """Whether the disk of `folder` has no room, or a program whose `output` this is printed so."""
    disk = os.statvfs(folder.parent)
    nearly = disk.f_bavail * disk.f_frsize < _MIN_DISK_SPACE
    return nearly or any(os.strerror(number) in output for number in (errno.ENOSPC, errno.EDQUOT))


def _first_errors(output: str) -> str:
    """The lines that say what went wrong, else the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if of_ccache := [line for line in lines if line.startswith(f"{_CCACHE}: error")]:
        return of_ccache[0]  # CMake prints it below its own advice
    if _OUTPUT_OF_COMPILER in lines:
        lines = lines[lines.index(_OUTPUT_OF_COMPILER) + 1 :]
    for number, line in enumerate(lines):
        if line.startswith("CMake Error"):  # what is wrong stands in the lines below
            return " ".join(lines[number : number + _ERROR_LINES])
    errors = [line for line in lines if re.search(r"(?<!-)\berror\b", line, re.IGNORECASE)]
    return "; ".join(errors[:_ERROR_LINES] or lines[-_ERROR_LINES:])
