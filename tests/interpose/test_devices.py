"""Buffers in a GPU's memory are left to MPI, by all ranks of the call; a planted library stands for the GPU's."""

import subprocess
from pathlib import Path

import pytest

from tests.interpose.conftest import PROGRAMS, TREES, RunProgram, everywhere

ALL = everywhere(TREES)


@pytest.mark.parametrize(("soname", "flag"), [("libcuda.so.1", "-DCUDA"), ("libamdhip64.so.6", "-DHIP")])
def test_a_call_with_device_memory_on_one_rank_is_left_to_mpi_and_reported_once(
    run_program: RunProgram, tmp_path: Path, soname: str, flag: str
) -> None:
    library = tmp_path / "planted.so"
    source = PROGRAMS / "devices" / "gpu_library.c"
    subprocess.run(
        ["cc", "-shared", "-fPIC", flag, f"-Wl,-soname,{soname}", str(source), "-o", str(library)], check=True
    )
    done = run_program("devices/devices.c", str(library), text=ALL, ranks=2)
    assert done.status == 0, done.stderr
    found = {
        (row["algorithm"], row["reason"]): row["calls"] for row in done.profile if row["collective"] == "allreduce"
    }
    assert found == {(TREES["allreduce"], ""): "2", ("default", "device memory"): "1"}
    assert done.messages() == ["timpani: calls with buffers in a GPU's memory are left to MPI"]


def test_without_such_a_library_nothing_is_asked(run_program: RunProgram) -> None:
    done = run_program("devices/devices.c", text=ALL, ranks=2)
    assert done.status == 0, done.stderr
    assert (done.ran("allreduce"), done.messages()) == ({TREES["allreduce"]}, [])
