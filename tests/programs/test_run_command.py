"""A program that timpani runs ends with it, however timpani ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.live import gone, wait_until

CODE = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started by nohup
from timpani.programs.runs.profiled_run import run_command
run_command(["sh", "-c", "echo $$ > started; mv started pid; exec sleep 300"], dict(os.environ))
"""


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGKILL])
def test_the_program_ends_with_timpani(tmp_path: Path, ending: signal.Signals) -> None:
    pid = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", CODE], cwd=tmp_path) as timpani:
        wait_until(pid.exists)
        timpani.send_signal(ending)
    wait_until(lambda: gone(int(pid.read_text())))
