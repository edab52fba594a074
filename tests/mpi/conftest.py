"""Real ranks: each MPI library of this machine, our programs built for it, and plans run with it."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.builds import build_sanitized
from tests.campaign.live import SECONDS
from tests.installed import FOUND, ONE_OF_EACH_KIND, label, with_libraries, with_library
from tests.preloading import yielding
from timpani.libraries.library import LaunchRequest
from timpani.machine.cores import read_cores
from timpani.machine.launchers import command
from timpani.native.build import build
from timpani.native.mpi import Mpi

RunPlan = Callable[..., list[dict[str, Any]]]

# For what is Timpani's, whichever library it is built for.
one_mpi = with_libraries(FOUND[:1], indirect=True)
# For what differs between the versions of a library.
every_mpi = with_libraries(FOUND, indirect=True)


def on_ranks(openmpi: Sequence[int], mpich: Sequence[int]) -> pytest.MarkDecorator:
    """The first library of each kind with its kind's rank counts, and every other one with the middle one of them.

    MPICH's ranks spin while they wait: on two cores three of them show what is the library's, and more take minutes.
    """
    counts = {"openmpi": openmpi, "mpich": mpich}
    cases = [
        with_library(mpi, ranks, id=f"{label(mpi)}-{ranks}")
        for mpi in FOUND
        for ranks in counts[mpi.kind]
        if mpi in ONE_OF_EACH_KIND or ranks == counts[mpi.kind][len(counts[mpi.kind]) // 2]
    ]
    return pytest.mark.parametrize(("mpi", "ranks"), cases, indirect=["mpi"])


@pytest.fixture(scope="session")
def sanitized(mpi: Mpi) -> Path:
    """The folder of our programs and native tests, built with the sanitizers."""
    return build_sanitized(mpi)


def start(
    mpi: Mpi, ranks: int, program: tuple[str, ...], *parameters: tuple[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `program` on `ranks` ranks; MPI libraries leak by design, so that leaks are not looked for."""
    oversubscribed = ranks > read_cores().usable
    sanitizer = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}  # what is preloaded comes before its own
    request = LaunchRequest(
        ranks=ranks,
        placement="core",
        oversubscribed=oversubscribed,
        parameters=parameters,
        environment={**sanitizer, **yielding(mpi)},
        program=program,
    )
    to_run = command(mpi, request)
    return subprocess.run(
        to_run.argv,
        env={**os.environ, **to_run.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@pytest.fixture
def run_plan(mpi: Mpi, tmp_path: Path) -> RunPlan:
    """Run the measuring program on a plan's lines and return its record; `programs` defaults to the ordinary build."""

    def run(
        ranks: int,
        lines: list[str],
        *parameters: tuple[str, str],
        start_by: str = "barrier",
        programs: Path | None = None,
        slot_ns: int = 3_000_000,
    ) -> list[dict[str, Any]]:
        plan, record = tmp_path / "plan.txt", tmp_path / "record.jsonl"
        record.unlink(missing_ok=True)
        plan.write_text("\n".join(["timpani-plan 1", f"start {start_by}", f"slot_ns {slot_ns}", *lines, ""]))
        measure = (programs or build(mpi)) / "timpani-measure"
        done = start(mpi, ranks, (str(measure), str(plan), str(record)), *parameters)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in record.read_text().splitlines()]

    return run
