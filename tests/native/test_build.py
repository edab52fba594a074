"""Building native programs: the cache, two builders at once, and compilers' errors."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import gone, wait_until
from tests.installed import FOUND, every_mpi
from timpani.errors import UserError
from timpani.native import build as build_module
from timpani.native.announce import Units
from timpani.native.build import FIRST, build, build_without_mpi, is_built
from timpani.native.cache import cache_folder
from timpani.native.compiler import Compiler, archiver_options, compile_sources
from timpani.native.mpi import Mpi
from timpani.native_sources import sources

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(small LANGUAGES CXX)
option(TIMPANI_MPI "" ON)
if(NOT TIMPANI_MPI)
  add_library(part STATIC part/part.cpp)
  return()
endif()
add_executable(timpani-measure measure/main.cpp)
target_link_libraries(timpani-measure ${TIMPANI_WITHOUT_MPI}/libpart.a)
"""
PART = """\
const char* part() { return "linked"; }
"""
PROGRAM = """\
#include <mpi.h>
#include <cstdio>
const char* part();
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::puts(text);
    std::puts(part());
    MPI_Finalize();
}
"""


SLOW = 'add_custom_target(slow ALL COMMAND sh -c "echo $$ > ${CMAKE_SOURCE_DIR}/../slow && exec sleep 600" VERBATIM)\n'
"""A step of the build that takes until it is killed, and writes its process number to `slow`."""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small CMake project; the cache is a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "native"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CMAKE)
    for folder in ("measure", "part"):
        (source / folder).mkdir()
    (source / "measure/main.cpp").write_text(PROGRAM)
    (source / "part/part.cpp").write_text(PART)
    (source / "folders_without_mpi.txt").write_text("part\n")
    return source


def parts() -> set[Path]:
    """What was built that uses no MPI."""
    return set(cache_folder().glob("no-mpi-*"))


def built_folders() -> set[Path]:
    """All that was built, or whose build was not finished."""
    return {path for path in cache_folder().iterdir() if not path.name.startswith(("library-", "compiler-"))}


def wrapper(folder: Path, mpi: Mpi, shown: str | None) -> Mpi:
    """A library whose compiler answers `-show` with `shown`, or refuses to where that is None."""
    folder.mkdir()
    cxx = folder / "mpicxx"
    answer = "exit 1" if shown is None else f"echo '{shown}'; exit"
    cxx.write_text(f'#!/bin/sh\nif [ "$1" = -show ]; then {answer}; fi\nexec {mpi.cxx} "$@"\n')
    cxx.chmod(0o755)
    return replace(mpi, wrapper=cxx)


def planted_ccache(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A `ccache` that comes first on PATH, and runs `script`."""
    program = folder / "bin/ccache"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}", prepend=":")


@pytest.fixture
def mpi() -> Mpi:
    return FOUND[0]


@every_mpi
def test_programs_are_linked_with_the_library_asked_for(small: Path, mpi: Mpi) -> None:
    program = build(mpi, small) / "timpani-measure"
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert ("Open MPI" if mpi.kind == "openmpi" else "MPICH") in said
    assert mpi.version in said


def test_later_builds_are_promised_by_the_time_of_the_first(
    small: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_module, "_compiled_algorithms", [])
    monkeypatch.setattr(Units, "seconds", 100.0)
    build(mpi, small)
    first, second = re.findall("; (.*)please wait", capsys.readouterr().err)
    assert first == ""
    assert second == "about 110 s, "


def test_the_part_without_mpi_is_compiled_once_for_all_libraries(small: Path, mpi: Mpi, tmp_path: Path) -> None:
    library, other = (wrapper(tmp_path / name, mpi, f"g++ -I/{name} -L/{name} -l{name}") for name in "ab")
    assert build(library, small) != build(other, small)
    assert parts() == {build_without_mpi(each, small, programs=FIRST) for each in (library, other)}
    assert len(parts()) == 1


@pytest.mark.parametrize("shown", ["g++ -I/a", "ccache g++ -I/a"])
def test_ccache_is_called_once_for_each_object(
    small: Path, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    """Also where the library's compiler calls it already."""
    log = tmp_path / "calls"
    planted_ccache(tmp_path, monkeypatch, f'echo "$@" >> {log}\nexec "$@"')
    build_without_mpi(wrapper(tmp_path / "a", mpi, shown), small, programs=FIRST)
    calls = [line.split() for line in log.read_text().splitlines() if line.endswith("part.cpp")]
    assert [Path(words[0]).name for words in calls] == ["g++"]


@pytest.mark.parametrize("shown", [None, "g++ -D_GLIBCXX_USE_CXX11_ABI=0 -I/a", "ccache g++ -I/a"])
def test_a_library_with_another_compiler_has_its_own(
    small: Path, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str | None
) -> None:
    planted_ccache(tmp_path, monkeypatch, 'exec "$@"')
    common = build_without_mpi(wrapper(tmp_path / "a", mpi, "g++ -I/a"), small, programs=FIRST)
    library = wrapper(tmp_path / "b", mpi, shown)
    program = build(library, small) / "timpani-measure"
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.endswith("linked\n")
    assert parts() == {common, build_without_mpi(library, small, programs=FIRST)}
    assert len(parts()) == 2


def test_each_part_depends_on_its_own_sources_and_on_flags(
    small: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, whole = build_without_mpi(mpi, small, programs=FIRST), build(mpi, small)
    (small / "measure/main.cpp").write_text(PROGRAM + "// changed\n")
    assert build_without_mpi(mpi, small, programs=FIRST) == part
    assert build(mpi, small) != whole
    (small / "measure/main.cpp").write_text(PROGRAM)
    (small / "part/part.cpp").write_text(PART.replace("linked", "linked anew"))
    assert build_without_mpi(mpi, small, programs=FIRST) != part
    program = build(mpi, small) / "timpani-measure"
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.endswith("linked anew\n")
    monkeypatch.setenv("CXXFLAGS", "-DOTHER")
    assert build(mpi, small) != program.parent


def test_a_cache_that_can_only_be_read_is_read(small: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(mpi, small)

    def refuse(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(small.parent))
    assert cache_folder() == small.parent / f"timpani-{os.getuid()}"
    assert build(mpi, small) == first
    (small / "measure/main.cpp").write_text(PROGRAM + "// changed\n")
    assert build(mpi, small).parent == cache_folder()
    assert parts() == set()  # the part was in the other one


def test_of_a_users_algorithms_only_they_and_what_names_them_are_compiled(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = build_without_mpi(mpi)
    text = (sources() / "algorithms/bcast_linear.cpp").read_text().replace("linear", "mine")
    (tmp_path / "bcast_mine.cpp").write_text(text)
    monkeypatch.setenv("TIMPANI_ALGORITHMS", str(tmp_path))
    compiled: set[str] = set()

    def compile_and_list(*arguments: Any) -> str:
        errors = compile_sources(*arguments)
        compiled.update(re.findall(r"CMakeFiles/(\S+)\.dir/\S+\.o\b", (arguments[4] / ".ninja_log").read_text()))
        return errors

    monkeypatch.setattr("timpani.native.build.compile_sources", compile_and_list)
    programs = build_without_mpi(mpi)
    assert compiled == {"timpani-further-algorithms", *(path.name for path in common.glob("timpani-*"))}
    listed = subprocess.run([programs / "timpani-list"], capture_output=True, text=True, check=True).stdout
    assert '"mine"' in listed


def builder(source: Path, mpi: Mpi) -> list[str]:
    """The command of a process that builds."""
    script = (
        "import sys; from pathlib import Path; from timpani.native import announce; announce._LIVE_SECONDS = 0.001;"
        "from timpani.native.build import build;"
        "from timpani.libraries.find import choose_mpi; print(build(choose_mpi(sys.argv[1]), Path(sys.argv[2])))"
    )
    return [sys.executable, "-c", script, str(mpi.mpirun), str(source)]


def test_two_processes_at_once_both_succeed(small: Path, mpi: Mpi) -> None:
    command = builder(small, mpi)

    def start(_: int) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with ThreadPoolExecutor(2) as pool:
        folders = set(pool.map(start, range(2)))
    assert len(folders) == 1
    assert built_folders() == {Path(folders.pop()), *parts()}
    assert len(parts()) == 1


def test_a_failed_build_shows_the_compilers_error_and_leaves_nothing(small: Path, mpi: Mpi) -> None:
    (small / "measure/main.cpp").write_text("int main() { return sorrow; }\n")
    with pytest.raises(UserError, match=r"main\.cpp:1:21: error: .*sorrow"):
        build(mpi, small)
    assert built_folders() == parts()
    (small / "measure/main.cpp").write_text(PROGRAM)
    assert (build(mpi, small) / "timpani-measure").is_file()


def test_a_full_disk_is_named_and_not_the_compiler(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + 'message(FATAL_ERROR "main.o: No space left on device")\n')
    with pytest.raises(UserError, match=r"cache/timpani: the disk is full; make room, or set XDG_CACHE_HOME"):
        build(mpi, small)


def while_one_builds(small: Path, mpi: Mpi, later: Sequence[Mpi]) -> tuple[int, list[str]]:
    """The process that builds for `mpi`, slowly, and the first line that each builder for `later` shows meanwhile."""
    with subprocess.Popen(builder(small, mpi), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        wait_until((small.parent / "slow").exists)
        terminals = [os.openpty() for _ in later]
        others = [
            subprocess.Popen(builder(small, each), stdout=subprocess.DEVNULL, stderr=inner)
            for each, (_, inner) in zip(later, terminals, strict=True)
        ]
        lines = []
        for ends in terminals:
            with open(ends[0], newline="", closefd=False) as outer:
                lines.append(outer.readline())
        first.kill()
        for process in others:
            process.kill()
            process.wait()
        for end in chain.from_iterable(terminals):
            os.close(end)
    return first.pid, lines


def test_only_a_builder_of_the_same_programs_waits_and_names_the_process_it_waits_for(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + SLOW)
    others = [each for each in FOUND if each.kind != mpi.kind][:1]
    first, (same, *other) = while_one_builds(small, mpi, [mpi, *others])
    programs = f"the programs for {mpi.name} {mpi.version}"
    assert same.startswith(f"timpani: waiting for process {first}, which compiles {programs}")
    assert all(" compiling the programs for " in line for line in other)


def test_builders_for_all_libraries_wait_for_the_part_without_mpi(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE.replace("  return()\n", f"  {SLOW}  return()\n"))
    first, lines = while_one_builds(small, mpi, FOUND)
    for line in lines:
        assert line.startswith(f"timpani: waiting for process {first}, which compiles the algorithms")


def test_a_killed_builder_leaves_no_compiler_running(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + SLOW)
    with subprocess.Popen(builder(small, mpi), stdout=subprocess.DEVNULL) as process:
        started = small.parent / "slow"
        wait_until(lambda: started.exists() and started.read_text())
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: gone(int(started.read_text())))


def test_programs_are_used_where_the_compiler_that_built_them_is_missing(
    small: Path, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on compute nodes, which often have no compiler. Programs that were never built are refused."""
    compiler = tmp_path / "bin/g++-7"
    compiler.parent.mkdir()
    compiler.symlink_to(shutil.which("g++") or "")
    monkeypatch.setenv("PATH", f"{compiler.parent}", prepend=":")
    for variable in ("OMPI_CXX", "MPICH_CXX"):
        monkeypatch.setenv(variable, compiler.name)
    built = build(mpi, small)
    compiler.unlink()
    assert build(mpi, small) == built
    assert is_built(mpi, small)
    (small / "measure/main.cpp").write_text(PROGRAM + "// changed\n")
    assert not is_built(mpi, small)
    with pytest.raises(UserError, match=r"calls g\+\+-7, which \w+_CXX names and which is not on PATH"):
        build(mpi, small)
    (small / "part/part.cpp").write_text(PART + "// changed\n")
    with pytest.raises(UserError, match=r"calls g\+\+-7, which \w+_CXX names and which is not on PATH"):
        build_without_mpi(mpi, small, programs=FIRST)


def test_where_home_cannot_be_written_the_cache_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")  # a folder below a file can't be made, not even by root
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = cache_folder()
    assert folder == tmp_path / f"timpani-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    with pytest.raises(UserError, match="can be changed by other users"):
        cache_folder()


def test_archivers_with_the_targets_prefix_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a conda environment, where the library's wrapper calls x86_64-conda-linux-gnu-c++."""
    for name, text in {
        "mpicxx": "#!/bin/sh\necho x86_64-conda-linux-gnu-c++ -I/include\n",
        **dict.fromkeys([f"x86_64-conda-linux-gnu-{tool}" for tool in ("c++", "ar", "ranlib")], "#!/bin/sh\n"),
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    wrapper = Compiler((str(tmp_path / "mpicxx"),))
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    prefix = tmp_path / "x86_64-conda-linux-gnu-"
    assert archiver_options(wrapper) == (f"-DCMAKE_AR={prefix}ar", f"-DCMAKE_RANLIB={prefix}ranlib")
    (tmp_path / "ar").symlink_to(tmp_path / "x86_64-conda-linux-gnu-ar")
    assert archiver_options(wrapper) == ()
