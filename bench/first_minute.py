"""How long until a new user sees the first row: installing the wheel, then one broadcast with each library?

The wheel with carried programs is installed into a temporary environment and started with a PATH without compiler,
cmake and ninja. The same run with TIMPANI_COMPILE=1 and the usual PATH compiles. ReFrame and mpi4py are installed for
comparison. TIMPANI_BENCH_WHEEL=FILE names a wheel; without it one is built from what `python -m tools.carry` compiled.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.carried import libraries
from bench.common.command import output
from timpani.native.carried import COMPILE
from timpani.native.mpi import Mpi

MAX_FIRST_ROW = 10.0
PEERS = ("reframe-hpc", "mpi4py")
_TOOLS = ("sh", "env", "python3", "hostname", "uname", "sed", "cat", "ssh", "ls", "awk", "cut", "dirname", "basename")
"""What a machine without a compiler has, and launchers call."""


def run() -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        wheel = os.environ.get("TIMPANI_BENCH_WHEEL") or str(build_wheel(folder / "wheel"))
        for package in (wheel, *PEERS):
            seconds = install(folder / Path(package).stem, f"{package}[compile]" if package == wheel else package)
            print(f"pip install {Path(package).name}: {seconds:.1f} s", flush=True)
        timpani = folder / Path(wheel).stem / "bin" / "timpani"
        path = folder / "tools"
        path.mkdir()
        for tool in _TOOLS:
            if (Path("/usr/bin") / tool).exists():
                (path / tool).symlink_to(Path("/usr/bin") / tool)
        print(f"seconds to the first row of results, at most {MAX_FIRST_ROW:.0f} wanted")
        print(f"{'library':<24}{'carried':>10}{'compiled':>10}{'ratio':>8}")
        for mpi in libraries():
            first = first_row(timpani, mpi, folder, {"PATH": str(path)})
            compiled = first_row(timpani, mpi, folder, {COMPILE: "1"})
            print(f"{mpi.title:<24}{first:>10.1f}{compiled:>10.1f}{compiled / first:>8.1f}", flush=True)


def build_wheel(into: Path) -> Path:
    """A wheel for this processor with the programs in build/carried."""
    words = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(into), ".")
    output(words, {"TIMPANI_CARRY": platform.machine()})
    return next(into.glob("*.whl"))


def install(folder: Path, package: str) -> float:
    """Wall seconds of making an environment with `package`."""
    return _timed(
        lambda: (
            output((sys.executable, "-m", "venv", str(folder))),
            output((str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", package)),
        )
    )


def first_row(timpani: Path, mpi: Mpi, folder: Path, environment: dict[str, str]) -> float:
    """Wall seconds until the first broadcast is recorded, with an empty cache."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        campaign = Path(fresh) / "campaign"
        words = ("run", "bcast", "--ranks", "2", "--mpi", str(mpi.mpirun), "--oversubscribe", "-o", str(campaign))
        variables = {**os.environ, "XDG_CACHE_HOME": fresh, "HOME": fresh, "CCACHE_DISABLE": "1", **environment}
        began = time.perf_counter()
        started = subprocess.Popen(
            (str(timpani), *words), env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            while not _has_results(campaign):
                if started.poll() not in (None, 0):
                    sys.exit(f"timpani {' '.join(words)} failed:\n{started.communicate()[1]}")
                time.sleep(0.05)
            return time.perf_counter() - began
        finally:
            started.terminate()
            started.communicate()


def _has_results(campaign: Path) -> bool:
    results = campaign / "results.jsonl"
    return results.is_file() and results.stat().st_size > 0


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
