"""Files that Open MPI leaves behind a killed job are found by the job's own number, and others' is left alone."""

import os
import subprocess
from pathlib import Path

import pytest

from timpani.libraries.openmpi import launcher as remains
from timpani.libraries.openmpi.launcher import remains_of, remove_remains

USER = os.getuid()
OF_4 = "1050345472.0;tcp://192.0.2.2:55123"
OF_5 = "prterun-vm-25822@0.0;tcp4://127.0.0.1:33613"


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Shared memory and session folders of the jobs above, and of others."""
    shared, temporary = tmp_path / "shm", tmp_path / "tmp"
    shared.mkdir()
    for name in (
        *(f"vader_segment.vm.{USER}.3e9b0001.{rank}" for rank in (0, 1)),
        *(f"vader_segment.vm.{USER}.3e9b0002.0", f"sm_segment.vm.{USER}.829e0001.1"),
        *(f"vader_segment.vm.{USER}.3e9c0001.0", f"vader_segment.vm.{USER + 1}.3e9b0001.0", "3e9b0001"),
        *(f"sm_segment.vm.{USER}.829f0001.0", f"vader_segment.vm.{USER}.13e9b0001.0"),
    ):
        (shared / name).touch()
    for process, job in ((7, OF_4), (8, "1050411008.0;tcp://192.0.2.2:1")):
        place = temporary / f"ompi.vm.{USER}" / f"pid.{process}"
        place.mkdir(parents=True)
        (place / "contact.txt").write_text(f"{job}\n{process}\n")
    for process in (25822, 25823):
        (temporary / f"ompi.{process}" / f"pmix.vm.tool.prterun-vm-{process}@0").mkdir(parents=True)
    return shared, temporary


def test_a_jobs_remains_are_known_by_what_its_launcher_reported(tmp_path: Path) -> None:
    shared, temporary = folders(tmp_path)
    assert {path.name for path in remains_of(OF_4, shared, temporary)} == {
        *(f"vader_segment.vm.{USER}.3e9b0001.{rank}" for rank in (0, 1)),
        *(f"vader_segment.vm.{USER}.3e9b0002.0", "pid.7"),
    }
    assert {path.name for path in remains_of(OF_5, shared, temporary)} == {
        *(f"sm_segment.vm.{USER}.829e0001.1", "ompi.25822"),
    }


@pytest.mark.parametrize("uri", ["", "nonsense", "*.0;", "prterun-*-*@0.0;", "../.0;", "99999999999999.0;"])
def test_an_invalid_report_names_no_remains(tmp_path: Path, uri: str) -> None:
    assert remains_of(uri, *folders(tmp_path)) == []


def test_open_files_are_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, temporary = folders(tmp_path)
    monkeypatch.setattr(remains, "_SHARED_MEMORY", shared)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (tmp_path / remains.REPORT).write_text(OF_4)
    used = shared / f"vader_segment.vm.{USER}.3e9b0001.0"
    with used.open() as file, subprocess.Popen(["sleep", "60"], stdin=file) as holding:
        removed = remove_remains(tmp_path)
        holding.kill()
    assert used not in removed
    assert used.exists()
    assert not (shared / f"vader_segment.vm.{USER}.3e9b0001.1").exists()
    assert not (temporary / f"ompi.vm.{USER}" / "pid.7").exists()
    assert (temporary / f"ompi.vm.{USER}" / "pid.8").exists()
    assert remove_remains(tmp_path / "missing") == []
