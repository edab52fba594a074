"""What outlives a launch is found in any session, ended before the next one measures, and said."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.live import gone
from timpani.campaign.run.processes import Processes

# A process that heeds no polite signal, in a session of its own; its child too, whose parent is gone.
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
    ours, others = Processes("abc.1.2", said.append), Processes("abc.1.22", said.append)
    there = [tmp_path / "ours", tmp_path / "others"]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", STUBBORN, path], env={**os.environ, **each.environment("0001-1")}, close_fds=True
        )
        for each, path in zip((ours, others), there, strict=True)
    ]
    while not all(path.exists() for path in there):
        time.sleep(0.01)
    yield ours, others, started[1], said
    others.end_earlier()
    for each in started:
        each.wait()


def test_leftovers_of_earlier_starts_are_killed_and_said_before_the_next(
    stubborn: tuple[Processes, Processes, "subprocess.Popen[bytes]", list[str]], tmp_path: Path
) -> None:
    ours, _, another, said = stubborn
    orphan = int((tmp_path / "ours").read_text())
    with ours.start("0001-2"):
        assert said == ["2 processes were still running of the start 0001-1, and killed"]
        assert gone(orphan)
        assert another.poll() is None, "another campaign's goes on"
        with subprocess.Popen(["sleep", "100"], env={**os.environ, **ours.environment("0001-2")}) as measuring:
            ours.end_earlier()
            assert measuring.poll() is None, "what is under way goes on"
            measuring.send_signal(signal.SIGKILL)
    assert len(said) == 1
