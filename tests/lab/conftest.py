"""Labs made and taken down by the commands that a user types."""

import fcntl
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import MAIN, timpani
from timpani.errors import UserError
from timpani.machine.lab.lab import check_programs
from timpani.machine.lab.make import check_root
from timpani.native.cache import cache_folder

NAMESPACES = Path("/run/netns")


def _missing() -> str:
    """What a lab with Slurm lacks here."""
    try:
        check_root()
        check_programs(slurm=True)
    except UserError as error:
        return str(error)
    return ""


needs_lab = pytest.mark.needs(not _missing(), _missing())


@dataclass(frozen=True)
class Made:
    """A lab that is up."""

    id: str

    def exec(self, node: str, *command: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command on a node."""
        return timpani("lab", "exec", "--lab", self.id, node, "--", *command, **options)

    def start(self, node: str, *command: str | Path, **options: Any) -> "subprocess.Popen[str]":
        """Start a command on a node, whose output is a pipe."""
        words = [*MAIN, "lab", "exec", "--lab", self.id, node, "--", *command]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options)

    def processes(self) -> list[int]:
        """What runs on the nodes."""
        listed = (
            subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, check=True).stdout.split()
            for namespace in self.namespaces()
        )
        return [int(pid) for pids in listed for pid in pids]

    def namespaces(self) -> set[str]:
        return {path.name for path in NAMESPACES.glob(f"*{self.id}*")}


def listed() -> dict[str, dict[str, Any]]:
    """What `status` says of each lab, by its id."""
    return {row["lab"]: row for row in json.loads(timpani("lab", "status", "--format", "json").stdout)}


_HELD: list[int] = []


@contextmanager
def making(how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """No test of another process makes a lab meanwhile, which would remove what a killed `up` left."""
    if _HELD:
        yield
        return
    place = cache_folder() / "labs-of-tests"
    place.touch()
    with place.open() as file:
        fcntl.flock(file, how)
        _HELD.append(how)
        try:
            yield
        finally:
            _HELD.clear()


Make = Callable[..., Made]


@pytest.fixture(scope="session")
def make() -> Iterator[Make]:
    """Makes labs, which are gone when this process's tests are done; skips the test where none can be made."""
    made: list[Made] = []

    def up(*options: str, **how: Any) -> Made:
        with making(fcntl.LOCK_SH):
            done = timpani("lab", "up", *options, **how)
        if "this system refuses" in done.stderr:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        made.append(Made(done.stdout.split()[1].rstrip(":")))
        return made[-1]

    yield up
    for lab in made:
        if lab.id in listed():
            done = timpani("lab", "down", lab.id)
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def lab(make: Make) -> Made:
    """Four nodes of two cores behind two switches."""
    return make("--nodes", "4", "--cores", "2", "--groups", "2", "--link", "1gbit", "--uplink", "250mbit")
