"""Bytes that ranks send each other in a few calls, as Open MPI counts them, with parameters of the test's choice."""

import os
import subprocess
from pathlib import Path

from tests.campaign.live import SECONDS
from timpani.campaign.folder.launch_result import Matrix
from timpani.campaign.run.prove import read_totals
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import LaunchRequest
from timpani.machine.launchers import command
from timpani.machine.nodes.host_list import choose_hosts
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi


def ran(mpi: Mpi, request: LaunchRequest, machine: Machine | None = None) -> "subprocess.CompletedProcess[str]":
    """How `request` ended, and what it printed."""
    started = command(mpi, request, machine)
    for name, text in started.files.items():
        (request.folder / name).write_text(text)
    environment = {**os.environ, **dict(mpi.environment), **started.environment}
    return subprocess.run(
        started.argv, env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS
    )


_SOURCE = Path(__file__).parent / "programs/calls.cpp"
_COUNT = (("pml_monitoring_enable", "1"), ("pml_monitoring_enable_output", "3"))
RANKS = 4


def bytes_sent(
    mpi: Mpi, folder: Path, calls: list[tuple[str, int]], parameters: Parameters, machine: Machine | None = None
) -> Matrix:
    """Row = sender, of `calls` (collective, `message_bytes`) on `RANKS` ranks, which share cores."""
    program = compiled_calls(mpi, folder)
    words = tuple(word for collective, size in calls for word in (collective, str(size)))
    counting = (*_COUNT, ("pml_monitoring_filename", str(folder / "totals")))
    hosts = choose_hosts(machine) if machine else ()
    request = LaunchRequest(
        RANKS, "core", True, (*counting, *parameters), {}, (str(program), *words), hosts, folder if machine else Path()
    )
    done = ran(mpi, request, machine)
    assert done.returncode == 0, done.stdout + done.stderr
    _, sent = read_totals(folder, RANKS)
    return sent


def compiled_calls(mpi: Mpi, folder: Path) -> Path:
    """The program in `folder` that makes the calls in its arguments."""
    program = folder / "calls"
    if not program.exists():
        subprocess.run([mpi.cxx, _SOURCE, "-o", program], check=True, env={**os.environ, **dict(mpi.environment)})
    return program
