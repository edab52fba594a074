"""Makes and removes labs; after an interruption, the next command finds everything that was left."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from timpani.errors import UserError, cannot_lock
from timpani.lab.enter import HOSTS, scripts
from timpani.lab.lab import LABS, LAYOUT, Lab, labs
from timpani.lab.layout import Layout
from timpani.lab.programs import search_environment
from timpani.lab.slurm import start_slurm
from timpani.lab.steps import Step, steps

_GRACE_SECONDS = 2.0  # between SIGTERM and SIGKILL
_POLL_SECONDS = 0.02
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def check_root() -> None:
    """UserError without permission to make namespaces and enter them."""
    if os.geteuid() != 0:
        raise UserError(
            "a lab consists of network namespaces, which only root can create", "run it as root: `sudo timpani lab …`"
        )


def up(layout: Layout) -> Lab:
    """Make the lab of `layout`, after removing leftovers of killed commands.

    If a step fails (UserError), or a signal ends the program, no lab is left.
    """
    with _locked(), _ending_cleanly():
        for lab in labs():
            if lab.leftover:
                _take_down(lab)
        unfinished = Lab(layout.lab, None)
        unfinished.folder.mkdir()
        try:
            _make(layout, unfinished)
        except BaseException:
            _take_down(unfinished)
            raise
    return Lab(layout.lab, layout)


def down(lab: Lab) -> None:
    """End all processes of `lab`, and remove everything of it."""
    with _locked():
        _take_down(lab)


@contextmanager
def _locked() -> Iterator[None]:
    """Allow one process at a time to make or remove labs: an incomplete lab is then a leftover."""
    LABS.mkdir(parents=True, exist_ok=True)
    lock = os.open(LABS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise cannot_lock(LABS, error, "mount a file system with locks there, such as tmpfs") from None
        yield
    finally:
        os.close(lock)


def _make(layout: Layout, lab: Lab) -> None:
    (lab.folder / HOSTS).write_text(layout.hosts)
    for name, text in scripts(layout, lab.folder).items():
        (lab.folder / name).write_text(text)
        (lab.folder / name).chmod(0o755)
    for step in steps(layout):
        _run_step(step)
    _run_step(Step("host names and mounts of a process's own", lab.enter(layout.members[0].name, ("true",))))
    if layout.slurm:
        start_slurm(layout, lab)
    unfinished = lab.folder / f"{LAYOUT}.new"
    unfinished.write_text(layout.model_dump_json(indent=1) + "\n")
    unfinished.rename(lab.folder / LAYOUT)


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Raise SystemExit at the first terminating signal, and ignore others during the cleanup."""

    def end(number: int, _frame: FrameType | None) -> None:
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)  # the exit status by a shell's convention

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_step(step: Step) -> None:
    done = subprocess.run(step.argv, env=search_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = next(iter(done.stderr.splitlines()), f"exit status {done.returncode}")
        raise UserError(
            f"this system refuses {step.feature}, which a lab needs (`{' '.join(step.argv)}`: {said})",
            "use a machine whose kernel has them and allows root to create them; many containers do not",
        )


def _take_down(lab: Lab) -> None:
    (lab.folder / LAYOUT).unlink(missing_ok=True)
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _GRACE_SECONDS
        while (pids := _processes(lab)) and time.monotonic() < deadline:
            for pid in pids:
                with suppress(ProcessLookupError):  # it has ended
                    os.kill(pid, number)
            time.sleep(_POLL_SECONDS)
    if pids:
        raise UserError(f"processes of lab {lab.id} do not end: {', '.join(map(str, pids))}", "try again later")
    for namespace in lab.namespaces:
        _ip("netns", "delete", namespace)
    shutil.rmtree(lab.folder, ignore_errors=True)


def _processes(lab: Lab) -> list[int]:
    """All processes on the lab's nodes."""
    pids: list[int] = []
    for namespace in lab.namespaces:
        pids += map(int, _ip("netns", "pids", namespace).split())
    return pids


def _ip(*arguments: str) -> bytes:
    """What `ip` prints."""
    found = subprocess.run(("ip", *arguments), env=search_environment(), stdout=subprocess.PIPE, check=True)  # noqa: S607
    return found.stdout
