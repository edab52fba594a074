"""What the leak sanitizer says that nobody frees, under a program that makes and frees communicators.

It watches every allocation of a process, however our library was built.
"""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.campaign.live import SECONDS
from tests.interpose.conftest import SHARED, TREES, everywhere
from tests.mpi.conftest import one_mpi
from timpani.libraries.library import LaunchRequest
from timpani.machine.launchers import command
from timpani.native.mpi import Mpi

RANKS = 2
SUMMARY = re.compile(r"SUMMARY: AddressSanitizer: \d+ byte\(s\) leaked in (\d+) allocation")


def leaked(mpi: Mpi, library: Path, program: Path, folder: Path, communicators: int) -> list[int]:
    """Allocations that nobody freed, of each process."""
    folder.mkdir()
    (folder / "rules").write_text(everywhere(TREES | SHARED))
    runtime = subprocess.run([mpi.cxx, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    request = LaunchRequest(
        ranks=RANKS,
        placement="core",
        oversubscribed=False,
        parameters=(),
        environment={
            "LD_PRELOAD": f"{runtime.stdout.strip()}:{library}",
            "TIMPANI_RULES": str(folder / "rules"),
            "ASAN_OPTIONS": f"detect_leaks=1:exitcode=0:log_path={folder / 'log'}",
        },
        program=(str(program), str(communicators)),
    )
    to_run = command(mpi, request)
    environment = {**os.environ, **to_run.environment}
    subprocess.run(to_run.argv, env=environment, capture_output=True, text=True, check=True, timeout=SECONDS)
    found = [SUMMARY.search(log.read_text()) for log in folder.glob("log.*")]
    return [int(each[1]) for each in found if each]


@one_mpi
def test_leaked_memory_does_not_grow_with_communicators(
    mpi: Mpi, library: Path, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    """MPI libraries leave some at their end. A single one for each communicator that Timpani left would show."""
    program = compiled("communicators.c")
    few, many = (leaked(mpi, library, program, tmp_path / str(number), number) for number in (50, 250))
    assert len(few) == len(many) >= RANKS
    assert sum(many) - sum(few) < 100
