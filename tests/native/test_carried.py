"""Carried programs: which library they name, when programs are compiled instead, and what a rank checks."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tools.elf import read_elf

from tests.installed import each_kind, needs_two_cores
from tests.mpi.conftest import start
from timpani.errors import UserError
from timpani.native import carried as carried_module
from timpani.native.build import PRELOADED, build, build_without_mpi, is_built
from timpani.native.cache import cache_folder
from timpani.native.carried import COMPILE, PLACEHOLDER, NotCarriedError, carried, library_files
from timpani.native.library_version import version_of_file
from timpani.native.mpi import Mpi

LIBRARY = Path("/opt/x/lib/libmpi.so.40")
MPI = Mpi("openmpi", "Open MPI", "4.1.4", Path("/opt/x/bin/mpirun"), None, None, library=LIBRARY)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation that carries programs for this processor, of no more than the names that they hold."""
    folder = tmp_path / "carried"
    for family in ("no-mpi", "open-mpi", "mpich"):
        (folder / os.uname().machine / family).mkdir(parents=True)
        for name in ("timpani-measure", "libtimpani.so"):
            (folder / os.uname().machine / family / name).write_text(f"{family} \0{PLACEHOLDER}\0 end")
    monkeypatch.setattr(carried_module, "CARRIED", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_a_copy_names_the_librarys_file(installation: Path) -> None:
    folder = build(MPI, programs=(PRELOADED,))
    assert folder.parent == cache_folder()
    content = (folder / "timpani-measure").read_bytes()
    assert content.rstrip(b"\0 end").endswith(bytes(LIBRARY))
    assert len(content) == (installation / os.uname().machine / "open-mpi/timpani-measure").stat().st_size
    assert os.access(folder / "timpani-measure", os.X_OK)
    assert build(MPI) == folder
    debian = replace(MPI, library=LIBRARY.with_name("libmpich.so.12"))
    assert (build(debian) / "timpani-measure").read_bytes().startswith(b"mpich")
    assert build_without_mpi(None) == installation / os.uname().machine / "no-mpi"
    assert is_built(MPI)


@pytest.mark.parametrize(
    ("changes", "environment", "reason"),
    [
        ({"library": None, "no_library": "x is for 32 bits"}, {}, "x is for 32 bits"),
        ({"library": Path("/lib/libmpi_other.so.3")}, {}, "carries no programs for Open MPI"),
        ({"library": Path("/" + "x" * 1100) / "libmpi.so.40"}, {}, "is too long"),
        ({}, {COMPILE: "1"}, "TIMPANI_COMPILE asks for it"),
        ({}, {"TIMPANI_ALGORITHMS": "/"}, "TIMPANI_ALGORITHMS adds algorithms"),
    ],
)
def test_one_line_says_why_programs_are_compiled(
    installation: Path,
    changes: dict[str, Path | str | None],
    environment: dict[str, str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotCarriedError, match=reason):
        carried(replace(MPI, **changes), ())  # type: ignore[arg-type]


def test_another_processor_compiles(installation: Path) -> None:
    (installation / os.uname().machine).rename(installation / "riscv64")
    with pytest.raises(NotCarriedError, match=r"for riscv64, and this computer's processor is .*needs no compiler"):
        carried(MPI, ())


def test_musl_compiles(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise ValueError(name)

    monkeypatch.setattr(os, "confstr", unknown)
    with pytest.raises(NotCarriedError, match=r"need glibc 2\.28 or later"):
        carried(MPI, ())


def test_an_installation_without_programs_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried_module, "CARRIED", tmp_path / "none")
    with pytest.raises(NotCarriedError) as none:
        carried(MPI, ())
    assert str(none.value) == ""


def test_without_a_compiler_the_error_says_why_one_is_needed(
    installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"no C\+\+ wrapper.*, and programs must be compiled: no file is known; "):
        build(replace(MPI, library=None, no_library="no file is known"))
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.27")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(UserError, match=r"no C\+\+ compiler found, and programs must be compiled: .* glibc 2\.28"):
        build_without_mpi(MPI)
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text("#!/bin/sh\necho g++\n[ $1 = -show ]\n")
    wrapper.chmod(0o755)
    with pytest.raises(UserError, match=r"can't compile: .* g\+\+, .* programs must be compiled: .* glibc 2\.28"):
        build(replace(MPI, wrapper=wrapper))


def test_a_library_of_32_bits_is_refused_by_the_loader(tmp_path: Path) -> None:
    program = bytearray(Path(sys.executable).resolve().read_bytes()[:4096])
    program[4] = 1  # the class of ELF files of 32 bits
    (tmp_path / "libmpi.so.40").write_bytes(program)
    assert list(library_files([tmp_path])) == []
    assert version_of_file(tmp_path / "libmpi.so.40", {}) == "wrong ELF class: ELFCLASS32"


def test_an_elf_file_is_read() -> None:
    elf = read_elf(Path(sys.executable).resolve())
    assert "libc.so.6" in elf.needed
    assert (2, 2) < elf.glibc < (3, 0)
    assert "__libc_start_main" in elf.undefined


@needs_two_cores
@each_kind
def test_a_rank_in_another_library_ends_the_launch_with_one_line(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.library is None:
        pytest.skip("may be skipped: the library's file is unknown")
    other = tmp_path / mpi.library.name
    shutil.copy(mpi.library, other)
    plan = tmp_path / "plan.txt"
    plan.write_text("timpani-plan 1\ncell 0 bcast 8 warm - - -\n")
    program = build(mpi) / "timpani-measure"
    second = f'case "$OMPI_COMM_WORLD_RANK$PMI_RANK" in 1) export LD_PRELOAD={other};; esac; exec "$@"'
    done = start(mpi, 2, ("sh", "-c", second, "sh", str(program), str(plan), str(tmp_path / "record")))
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if "it runs in" in line]
    assert f"rank 1: on {os.uname().nodename} it runs in {other} (" in line
    assert f"but rank 0 in {mpi.library.resolve()} (" in line
