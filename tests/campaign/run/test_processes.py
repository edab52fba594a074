"""What outlives a launch is found in any session, ended before the next one measures, and said."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.live import gone, wait_until
from timpani.campaign.run.processes import Processes

# A process that heeds no polite signal, in a separate session; its child too, whose parent is gone.
STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.setsid()
if os.fork():
    time.sleep(100)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(100)
"""


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[tuple[Processes, Processes, "subprocess.Popen[bytes]", list[str]]]:
    """A campaign's processes, another's, one that runs of each, and what is said."""
    said: list[str] = []
    mark = f"{tmp_path}.2"  # of this test alone: other runs of it kill what has their mark
    ours, others = Processes(mark, said.append), Processes(f"{mark}2", said.append)
    there = [tmp_path / "ours", tmp_path / "others"]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", STUBBORN, path], env={**os.environ, **each.environment("0001-1")}, close_fds=True
        )
        for each, path in zip((ours, others), there, strict=True)
    ]
    wait_until(lambda: all(path.exists() and path.read_text() for path in there))
    yield ours, others, started[1], said
    others.end_earlier()
    for each in started:
        each.wait()


def test_leftovers_of_earlier_starts_are_killed_and_reported_before_the_next(
    stubborn: tuple[Processes, Processes, "subprocess.Popen[bytes]", list[str]], tmp_path: Path
) -> None:
    ours, _, another, said = stubborn
    orphan = int((tmp_path / "ours").read_text())
    with ours.start("0001-2"):
        assert said == ["2 processes were still running of the start 0001-1, and killed"]
        assert gone(orphan)
        assert another.poll() is None, "another campaign's continues"
        with subprocess.Popen(["sleep", "100"], env={**os.environ, **ours.environment("0001-2")}) as measuring:
            ours.end_earlier()
            assert measuring.poll() is None, "the current launch continues"
            measuring.send_signal(signal.SIGKILL)
    assert len(said) == 1
