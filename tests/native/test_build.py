"""Building native programs: the cache, two builders at once, and compilers' errors."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.campaign.live import gone, wait_until
from tests.installed import FOUND, every_mpi
from timpani.errors import UserError
from timpani.native.build import build, cache_folder
from timpani.native.mpi import Mpi
from timpani.native.sources import sources

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(small LANGUAGES CXX)
add_executable(timpani-measure main.cpp)
"""
PROGRAM = """\
#include <mpi.h>
#include <cstdio>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::puts(text);
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
    (source / "main.cpp").write_text(PROGRAM)
    return source


@pytest.fixture
def mpi() -> Mpi:
    return FOUND[0]


@every_mpi
def test_programs_are_linked_with_the_library_asked_for(small: Path, mpi: Mpi) -> None:
    program = build(mpi, small) / "timpani-measure"
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert ("Open MPI" if mpi.kind == "openmpi" else "MPICH") in said
    assert mpi.version in said


def test_the_second_build_comes_from_the_cache(small: Path, mpi: Mpi) -> None:
    first = build(mpi, small)
    built = (first / "timpani-measure").stat()
    assert build(mpi, small) == first
    assert (first / "timpani-measure").stat().st_mtime_ns == built.st_mtime_ns
    assert {path.name for path in first.iterdir()} == {"timpani-measure", "build-seconds"}


def test_other_sources_and_other_flags_are_built_anew(small: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(mpi, small)
    (small / "main.cpp").write_text(PROGRAM + "// changed\n")
    second = build(mpi, small)
    monkeypatch.setenv("CXXFLAGS", "-DOTHER")
    assert len({first, second, build(mpi, small)}) == 3


def builder(source: Path, mpi: Mpi) -> list[str]:
    """The command of a process that builds."""
    script = (
        "import sys; from pathlib import Path; from timpani.native.build import build;"
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
    assert [path.name for path in cache_folder().iterdir()] == [Path(folders.pop()).name]


def test_a_failed_build_shows_the_compilers_error_and_leaves_nothing(small: Path, mpi: Mpi) -> None:
    (small / "main.cpp").write_text("int main() { return sorrow; }\n")
    with pytest.raises(UserError, match=r"main\.cpp:1:21: error: .*sorrow"):
        build(mpi, small)
    assert list(cache_folder().iterdir()) == []
    (small / "main.cpp").write_text(PROGRAM)
    assert (build(mpi, small) / "timpani-measure").is_file()


def test_a_mistake_in_the_project_is_shown(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + "include(nothing_like_this)\n")
    with pytest.raises(UserError, match="nothing_like_this"):
        build(mpi, small)


def test_a_full_disk_is_named_and_not_the_compiler(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + 'message(FATAL_ERROR "main.o: No space left on device")\n')
    with pytest.raises(UserError, match=r"cache/timpani: the disk is full; make room, or set XDG_CACHE_HOME"):
        build(mpi, small)


def test_what_a_killed_builder_left_is_removed(small: Path, mpi: Mpi) -> None:
    (cache_folder() / "building-killed").mkdir()
    folder = build(mpi, small)
    assert list(cache_folder().iterdir()) == [folder]


def test_a_build_announces_its_library_and_how_long_the_last_one_took(
    small: Path, mpi: Mpi, capsys: pytest.CaptureFixture[str]
) -> None:
    first = build(mpi, small)
    said = capsys.readouterr().err
    assert said.startswith(f"timpani: compiling the programs for {mpi.name} {mpi.version}; please wait about 1 minute")
    (first / "build-seconds").write_text("47 ")
    assert build(mpi, small) == first
    assert capsys.readouterr().err == ""
    (small / "main.cpp").write_text(PROGRAM + "// changed\n")
    build(mpi, small, programs=("timpani-measure",))
    said = capsys.readouterr().err
    assert said.startswith(f"timpani: compiling timpani-measure for {mpi.name} {mpi.version}; please wait about 1 min")
    (small / "main.cpp").write_text(PROGRAM + "// changed again\n")
    build(mpi, small)
    assert "please wait about 47 s (the time of the last build for this library)" in capsys.readouterr().err


def test_only_a_builder_of_the_same_programs_waits_and_names_the_process_it_waits_for(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + SLOW)
    others = [each for each in FOUND if each.kind != mpi.kind][:1]
    with subprocess.Popen(builder(small, mpi), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        wait_until((small.parent / "slow").exists)
        later = [
            subprocess.Popen(builder(small, each), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for each in (mpi, *others)
        ]
        lines = [process.stderr.readline() for process in later if process.stderr]
        first.kill()
        for process in later:
            process.kill()
            process.communicate()
    assert lines[0].startswith(
        f"timpani: waiting for process {first.pid}, which compiles the programs for {mpi.name} {mpi.version}"
    )
    assert all(" compiling the programs for " in line for line in lines[1:])


def test_of_a_killed_builder_no_compiler_goes_on(small: Path, mpi: Mpi) -> None:
    (small / "CMakeLists.txt").write_text(CMAKE + SLOW)
    with subprocess.Popen(builder(small, mpi), stdout=subprocess.DEVNULL) as process:
        started = small.parent / "slow"
        wait_until(lambda: started.exists() and started.read_text())
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: gone(int(started.read_text())))


def test_a_missing_compiler_is_said(small: Path, mpi: Mpi, tmp_path: Path) -> None:
    gone = Mpi(mpi.kind, mpi.name, mpi.version, mpi.mpirun, tmp_path / "mpicxx", None)
    with pytest.raises(UserError, match=r"mpicxx can't run a C\+\+ compiler"):
        build(gone, small)


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


def test_a_relative_cache_home_is_not_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache/timpani"


def test_our_sources_are_there() -> None:
    assert (sources() / "CMakeLists.txt").is_file()


def test_only_the_programs_asked_for_are_built_unless_all_are_there(small: Path, mpi: Mpi) -> None:
    with (small / "CMakeLists.txt").open("a") as file:
        file.write("add_executable(timpani-verify main.cpp)\n")
    part = build(mpi, small, programs=("timpani-measure",))
    assert [each.name for each in part.glob("timpani-*")] == ["timpani-measure"]
    every = build(mpi, small)
    assert {each.name for each in every.glob("timpani-*")} == {"timpani-measure", "timpani-verify"}
    assert build(mpi, small, programs=("timpani-measure",)) == every
