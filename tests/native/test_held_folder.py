"""Who holds a folder is alone there; holders of other folders do not wait; abandoned folders are removed."""

import os
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import pytest

from tests.campaign.live import SECONDS
from timpani.native.held_folder import held, remove_abandoned


def refuse(process: str) -> None:
    pytest.fail(f"it waits for {process}")


def test_a_second_holder_of_the_same_folder_reports_the_first_and_waits(tmp_path: Path) -> None:
    folder = tmp_path / "building-same"
    waits_for: Queue[str] = Queue()
    entered = Event()

    def second() -> None:
        with held(folder, waits_for.put):
            entered.set()

    waiting = Thread(target=second)
    with held(folder, refuse):
        waiting.start()
        assert waits_for.get(timeout=SECONDS) == str(os.getpid())
        assert not entered.is_set()
    waiting.join(SECONDS)
    assert entered.is_set()
    assert not folder.exists()


def test_holders_of_other_folders_do_not_wait(tmp_path: Path) -> None:
    with held(tmp_path / "building-openmpi", refuse), held(tmp_path / "building-mpich", refuse):
        assert len(list(tmp_path.iterdir())) == 2


def test_only_folders_without_a_holder_are_abandoned(tmp_path: Path) -> None:
    for name in ("building-killed", "building-killed-before-its-lock"):
        (tmp_path / name / "tree").mkdir(parents=True)
    (tmp_path / "building-killed/lock").write_text("7")
    with held(tmp_path / "building-now", refuse):
        removed = remove_abandoned(tmp_path.glob("building-*"))
        assert {path.name for path in removed} == {"building-killed", "building-killed-before-its-lock"}
        assert [path.name for path in tmp_path.iterdir()] == ["building-now"]
        assert (tmp_path / "building-now/lock").read_text() == str(os.getpid())


def test_remains_of_a_killed_holder_are_removed_first(tmp_path: Path) -> None:
    (tmp_path / "building-x/tree/half").mkdir(parents=True)
    with held(tmp_path / "building-x", refuse):
        assert [path.name for path in (tmp_path / "building-x").iterdir()] == ["lock"]


def test_a_folder_that_its_holder_removes_while_another_makes_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, calls = os.mkdir, []

    def removed_at_once(path: Path, mode: int = 0o777) -> None:
        calls.append(path)
        if len(calls) == 1:
            raise FileExistsError
        make(path, mode)

    monkeypatch.setattr(os, "mkdir", removed_at_once)
    with held(tmp_path / "folder", lambda holder: None):
        assert (tmp_path / "folder").is_dir()
    assert len(calls) == 2
