"""A pipe in place of a file is refused at once; a pipe that a process writes to is read."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.campaign_files import cells, results_of, write_campaign
from tests.cli.typed import typed
from timpani.errors import UserError
from timpani.programs.runs.preloaded_command import read_executable
from timpani.reading import open_regular, read_bytes

_GUARD_SECONDS = 600
"""A reader that waits for a writer would wait for ever."""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A pipe that no process writes to."""

    def end(_number: int, _frame: object) -> None:
        raise AssertionError("it waits for a process that writes to the pipe")

    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(_GUARD_SECONDS)
    yield path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_pipe_without_a_writer_is_refused(pipe: Path) -> None:
    with pytest.raises(UserError, match=r"it is a pipe to which no process writes\); try again"):
        read_bytes(pipe, "try again")
    with pytest.raises(OSError, match="it is no regular file"):
        open_regular(pipe)
    assert read_executable(pipe) is None


def test_a_pipe_with_a_writer_is_read(pipe: Path) -> None:
    writer = subprocess.Popen(["sh", "-c", 'exec > "$1"; sleep 0.2; printf "title = 1"', "sh", pipe])
    with pipe.open("rb") as held:  # both ends are open from here on, as in <(command)
        assert read_bytes(Path(f"/dev/fd/{held.fileno()}"), "") == b"title = 1"
    assert writer.wait() == 0


@pytest.mark.parametrize(
    "words",
    [
        lambda pipe: ("import", pipe, "-o", pipe.parent / "imported"),
        lambda pipe: ("run", pipe),
        lambda pipe: ("hostfile", "--loads", pipe),
    ],
)
def test_commands_refuse_a_pipe_in_one_line(words: Callable[[Path], tuple[str | Path, ...]], pipe: Path) -> None:
    done = typed(*words(pipe))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"timpani: {pipe} can't be read (it is a pipe to which no process writes); ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["campaign.json", "results.jsonl", "launches.jsonl"])
def test_a_pipe_in_a_campaign_is_refused_in_one_line(name: str, pipe: Path, tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", results_of(cells({"default": {8: 1.0}})))
    (folder / name).unlink(missing_ok=True)
    shutil.move(pipe, folder / name)
    done = typed("show", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} can't be read (it is " in done.stderr
    assert done.stderr.count("\n") == 1
