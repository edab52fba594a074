"""What `timpani profile` costs: nanoseconds of a call, and the wall time of programs with it and without, in blocks.

Programs: PROGRAMS in the environment, commands that are separated by `;`, each with its launcher.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.overhead import build_benchmarks
from bench.pass_through import nanoseconds
from timpani.libraries.find import find_mpis
from timpani.programs.runs.preloaded_command import preloaded_command
from timpani.stats.compare import block_order, compare_blocks

# 100 ns more than counting calls took before there were profiles: 148 and 154 ns with Open MPI 4.1.4 and MPICH 4.0.2 on
# the same AMD EPYC on which a profile takes 123 ns.
MAX_NS = 250.0
MAX_SHARE = 0.01
BLOCKS = 20
SEED = 1


def run() -> None:
    for mpi in find_mpis():
        programs = build_benchmarks(mpi)
        with tempfile.TemporaryDirectory() as folder:
            profiled = {"LD_PRELOAD": str(programs / "libtimpani.so"), "TIMPANI_PROFILE": folder}
            program = str(programs / "timpani-bench-pass-through")
            cost = nanoseconds(program, profiled) - nanoseconds(program, {})
        verdict = "ok" if cost <= MAX_NS else "TOO SLOW"
        print(f"{mpi}: {cost:.0f} ns a call (at most {MAX_NS:.0f} ns): {verdict}", flush=True)
    for command in filter(str.strip, os.environ.get("PROGRAMS", "").split(";")):
        measure(shlex.split(command))


def measure(command: Sequence[str]) -> None:
    """Print the ratio of wall times, with the profile / without, with its interval."""
    times: dict[str, list[float]] = {"without": [], "with": []}
    for block in range(1, BLOCKS + 1):
        for side in block_order(tuple(times), block, SEED):
            times[side].append(seconds(command, profiled=side == "with"))
    found = compare_blocks(times["with"], times["without"])
    share = f"{found.ratio - 1:+.2%} ({found.low - 1:+.2%} to {found.high - 1:+.2%})"
    shown = found.high - 1 <= MAX_SHARE
    print(
        f"{shlex.join(command)}: {share} in {found.blocks} blocks, at most {MAX_SHARE:.0%}: shown: {shown}", flush=True
    )


def seconds(command: Sequence[str], *, profiled: bool) -> float:
    """Wall time of the whole command; ends the benchmark where the command fails."""
    with tempfile.TemporaryDirectory() as folder:
        argv, environment = tuple(command), dict(os.environ)
        if profiled:
            prepared = preloaded_command(command, None, None, None, {"TIMPANI_PROFILE": folder})
            argv, environment = prepared.argv, dict(prepared.environment)
        began = time.monotonic()
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        taken = time.monotonic() - began
        if done.returncode:
            sys.exit(f"{shlex.join(command)} failed: {done.stderr}")
        if profiled and not any(Path(folder).iterdir()):
            sys.exit(f"{shlex.join(command)} left no profile")
        return taken
