"""Programs that ran as a measurement starts them."""

import os
import subprocess

from tests.campaign.live import SECONDS
from timpani.libraries.launch_request import LaunchRequest
from timpani.machine.launchers import command
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
