"""A program that timpani runs ends with it, however timpani ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.live import gone, wait_until
from timpani.programs.runs.profiled_run import processes_of

CODE = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started by nohup
from timpani.programs.runs.profiled_run import run_command
run_command(["sh", "-c", "echo $$ > started; mv started pid; exec sleep 300"], dict(os.environ))
"""


# Of a script only the shell is Timpani's child; its program is found by the mark of the folder.
SCRIPT = """
import os, signal
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from timpani.programs.runs.profiled_run import processes_of, run_command
processes = processes_of(Path("p"))
with processes.start("run"):
    program = "sleep 300 & echo $! > started; mv started pid; wait"
    run_command(["sh", "-c", program], {**os.environ, **processes.environment("run")})
"""


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGKILL])
def test_programs_of_a_script_end_before_the_same_command_starts_another(
    tmp_path: Path, ending: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    pid = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=tmp_path) as timpani:
        wait_until(pid.exists)
        timpani.send_signal(ending)
    assert gone(int(pid.read_text())) == (ending != signal.SIGKILL)
    with processes_of(tmp_path / "p").start("run"):
        assert gone(int(pid.read_text()))
    assert "1 process was still running of the start run, and killed" in capfd.readouterr().err


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGKILL])
def test_the_program_ends_with_timpani(tmp_path: Path, ending: signal.Signals) -> None:
    pid = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", CODE], cwd=tmp_path) as timpani:
        wait_until(pid.exists)
        timpani.send_signal(ending)
    wait_until(lambda: gone(int(pid.read_text())))
