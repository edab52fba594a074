"""Files that a killed launcher left are removed by whoever comes next, and nothing else is."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import gone, wait_until
from tests.campaign_files import write_header
from tests.cli.typed import typed
from timpani.campaign.run.launch import TEMPORARY_KIND, Task, launch_temporary, run_concurrently
from timpani.native.held_folder import remove_temporaries

# Starts the launcher, a shell script that kills this process and then itself.
RUN = """
import sys
from pathlib import Path
from timpani.campaign.run.launch import run_to_end
from timpani.campaign.run.processes import Processes
from timpani.campaign.run.start import Start
from timpani.libraries.library import Command
command = Command(("sh", "-c", sys.argv[2]), {})
start = Start(None, Processes("mark", print), "openmpi", "0001-1", Path(sys.argv[1]), command, (), local=True)
run_to_end(start.follow(60, lambda: False, lambda line: None))
"""
MOMENTS = {
    "before it made anything": "",
    "with an empty session folder": "mkdir -p $TMPDIR/ompi.vm.0/pid.$$;",
    "with a session folder": "mkdir -p $TMPDIR/ompi.vm.0/pid.$$/0/0; echo 7 > $TMPDIR/ompi.vm.0/pid.$$/contact.txt;",
}


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's folder for temporary files, with something of others in it. Its path is short."""
    tmp_path_factory.getbasetemp()  # made before, so that it is elsewhere
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        (Path(folder) / "ompi.vm.0/pid.1").mkdir(parents=True)
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield Path(folder)


def killed(temporary: Path, launch: Path, script: str) -> list[Path]:
    """The folders left by a run that is killed together with its launcher, once the launcher has run `script`."""
    launcher = launch / "launcher"
    run = [sys.executable, "-c", RUN, str(launch), f"echo $$ > {launcher}; {script} kill -9 $PPID; kill -9 $$"]
    assert subprocess.run(run, env={**os.environ, "TMPDIR": str(temporary)}, check=False).returncode == -9
    wait_until(lambda: gone(int(launcher.read_text())))
    return list(temporary.glob(f"timpani-launches-{os.getuid()}/*"))


@pytest.mark.parametrize("moment", MOMENTS)
def test_only_remains_of_a_killed_launch_are_removed(temporary: Path, tmp_path: Path, moment: str) -> None:
    (left,) = killed(temporary, tmp_path, MOMENTS[moment])
    assert (left / "ompi.vm.0").exists() == bool(MOMENTS[moment])
    with launch_temporary(local=True) as (variables, _):
        assert [path.name for path in remove_temporaries(TEMPORARY_KIND)] == [left.name]
        assert Path(variables["TMPDIR"]).is_dir(), "a launch that is under way keeps its folder"
    assert [path.name for path in temporary.iterdir()] == ["ompi.vm.0"]


def test_while_its_launcher_lives_the_folder_of_a_killed_run_stays(temporary: Path) -> None:
    with launch_temporary(local=True) as (variables, locks):
        folder = Path(variables["TMPDIR"])
        (folder / "ompi.vm.0").mkdir()
        with subprocess.Popen(["sleep", "600"], pass_fds=locks) as launcher:
            with Path(os.devnull).open() as nothing:
                os.dup2(nothing.fileno(), locks[0])  # closes the lock here, as a kill of this process does
            assert remove_temporaries(TEMPORARY_KIND) == []
            launcher.kill()
        assert [path.name for path in remove_temporaries(TEMPORARY_KIND)] == [folder.name]


def test_the_check_of_a_campaign_removes_and_reports_it(temporary: Path, tmp_path: Path) -> None:
    (left,) = killed(temporary, tmp_path, MOMENTS["with a session folder"])
    checked = typed("check", write_header(tmp_path))
    assert f"removed {left}: a launch that was killed left it" in checked.stdout
    assert [path.name for path in temporary.iterdir()] == ["ompi.vm.0"]


def test_a_launch_on_other_computers_or_below_a_long_path_keeps_the_usual_folder(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch_temporary(local=False) as without:
        assert without == ({}, ())
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "long" / ("x" * 100)))
    with launch_temporary(local=True) as without:
        assert without == ({}, ())
    assert [path.name for path in temporary.iterdir()] == ["ompi.vm.0"]


def test_two_launches_may_start_and_end_at_the_same_time(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends removes the folder of all launches, if it is empty: perhaps one that the other has just made."""
    made = Path.mkdir
    removed: list[Path] = []

    def remove_first(folder: Path, *given: Any, **options: Any) -> None:
        made(folder, *given, **options)
        if folder.parent == temporary and not removed:
            folder.rmdir()
            removed.append(folder)

    monkeypatch.setattr(Path, "mkdir", remove_first)
    with launch_temporary(local=True) as (variables, _):
        assert removed == [Path(variables["TMPDIR"]).parent]


class Watched:
    """Pieces of work that wait some times each; how many were under way together, and how each ended."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.most = 0
        self.ended: list[int] = []

    def piece(self, number: int, waits: int, fails: bool = False) -> Task:
        self.under_way.add(number)
        self.most = max(self.most, len(self.under_way))
        try:
            for _ in range(waits):
                yield
            if fails:
                raise ValueError(f"piece {number}")
        finally:
            self.under_way.remove(number)
            self.ended.append(number)


@pytest.mark.parametrize(("limit", "together"), [(1, 1), (2, 2), (9, 4)])
def test_all_tasks_end_and_a_limited_number_runs_at_once(limit: int, together: int) -> None:
    watched = Watched()
    run_concurrently((watched.piece(number, waits=2) for number in range(4)), limit)
    assert sorted(watched.ended) == [0, 1, 2, 3]
    assert watched.most == together


def test_an_error_in_one_closes_the_others() -> None:
    watched = Watched()
    pieces = (watched.piece(0, waits=99), watched.piece(1, waits=1, fails=True), watched.piece(2, waits=1))
    with pytest.raises(ValueError, match="piece 1"):
        run_concurrently(iter(pieces), 2)
    assert watched.ended == [1, 0]
    assert not watched.under_way
