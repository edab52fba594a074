"""Real ranks: each MPI library of this machine, our programs built for it, and plans run with it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from timpani.machine.cores import read_cores
from timpani.machine.launch_request import LaunchRequest
from timpani.machine.launcher import command
from timpani.native.build import build
from timpani.native.find import Mpi, find_mpis
from timpani.native.sources import sources

FOUND = find_mpis()
PARAMETERS: tuple[Mpi | None, ...] = tuple(FOUND) if FOUND else (None,)

RunPlan = Callable[..., list[dict[str, Any]]]


@pytest.fixture(params=PARAMETERS, ids=lambda mpi: f"{mpi.kind}-{mpi.version}" if mpi else "none", scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    if request.param is None:
        pytest.skip("no MPI library on this machine")
    found: Mpi = request.param
    return found


@pytest.fixture(scope="session")
def sanitized(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of our programs and native tests, built with the address and undefined-behaviour sanitizers."""
    if mpi != FOUND[0]:
        pytest.skip("may be skipped: what the sanitizers look at is ours, whichever library it is built for")
    options = ("-DTIMPANI_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O1 -g1")
    return build_tests(mpi, tmp_path_factory.mktemp(f"sanitized-{mpi.kind}"), "all", *options)


@pytest.fixture(scope="session")
def against_library(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that compares our algorithms with the library's own calls."""
    name = "timpani-against-library"
    return build_tests(mpi, tmp_path_factory.mktemp(f"tests-{mpi.kind}"), name) / name


def build_tests(mpi: Mpi, folder: Path, target: str, *options: str) -> Path:
    """Build `target` of our programs and native tests for `mpi` in `folder`, and return that."""
    beside = Path(sys.executable).parent
    cmake = shutil.which("cmake", path=f"{beside}{os.pathsep}{os.environ['PATH']}") or "cmake"
    ninja = shutil.which("ninja", path=f"{beside}{os.pathsep}{os.environ['PATH']}") or "ninja"
    where = [f"-DCMAKE_CXX_COMPILER={mpi.cxx}", f"-DCMAKE_MAKE_PROGRAM={ninja}", "-DTIMPANI_TESTS=ON"]
    environment = os.environ | {"LC_ALL": "C"}  # as `build` has it: ccache tells locales apart
    subprocess.run([cmake, "-S", sources(), "-B", folder, "-G", "Ninja", *where, *options], check=True, env=environment)
    subprocess.run([ninja, "-C", folder, target], check=True, env=environment)
    return folder


def start(mpi: Mpi, ranks: int, program: tuple[str, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `program` on `ranks` ranks; MPI libraries leak by design, so that leaks are not looked for."""
    request = LaunchRequest(
        ranks=ranks,
        placement="core",
        oversubscribed=ranks > read_cores().usable,
        arguments=arguments,
        environment={"ASAN_OPTIONS": "detect_leaks=0"},
        program=program,
    )
    to_run = command(mpi, request)
    return subprocess.run(
        to_run.argv, env={**os.environ, **to_run.environment}, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture
def run_plan(mpi: Mpi, tmp_path: Path) -> RunPlan:
    """Run the measuring program on a plan's lines and return its record; `programs` defaults to the ordinary build."""

    def run(
        ranks: int,
        lines: list[str],
        *arguments: str,
        start_by: str = "barrier",
        programs: Path | None = None,
        slot_ns: int = 3_000_000,
    ) -> list[dict[str, Any]]:
        plan, record = tmp_path / "plan.txt", tmp_path / "record.jsonl"
        record.unlink(missing_ok=True)
        plan.write_text("\n".join(["timpani-plan 1", f"start {start_by}", f"slot_ns {slot_ns}", *lines, ""]))
        measure = (programs or build(mpi)) / "timpani-measure"
        done = start(mpi, ranks, (str(measure), str(plan), str(record)), *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in record.read_text().splitlines()]

    return run
