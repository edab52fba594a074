"""Configure the native sources by CMake and build them by ninja; what goes wrong is one clear error."""

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from timpani.errors import UserError
from timpani.native.cache import cache_folder
from timpani.native.compiler import Compiler, archiver_options, run_tool, shown_command
from timpani.native.die_with_parent import die_with_parent

_CCACHE = "ccache"
_ERROR_LINES = 5
_OUTPUT_OF_COMPILER = "It fails with the following output:"
"""What CMake prints before the output of a compiler that can't build a test program."""
_MIN_DISK_SPACE = 2**23
"""Bytes: tools that can't write print other reasons, and remove the file that they began, of a few megabytes."""


def compile_sources(
    source: Path, compiler: Compiler, options: tuple[str, ...], programs: tuple[str, ...], tree: Path, folder: Path
) -> str:
    """Build `programs` (all of them by default) of `source` in `tree`, so that they and the archives lie in `folder`.

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
        result = run_tool(step, environment, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        if result.returncode != 0:
            if _is_full(tree, result.stdout):
                raise UserError(
                    f"the native programs can't be built in {tree.parents[1]}: the disk is full",
                    "make room, or set XDG_CACHE_HOME to a folder on another disk",
                )
            return _first_errors(result.stdout)
    return ""


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
