"""How fast schedules are simulated, by processor time, and how much memory that takes."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path

from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi

LARGEST_MUST_TAKE = 1.0  # s, of a logarithmic algorithm at 2²⁰ ranks
MIN_MESSAGES_PER_SECOND = 50e6  # messages a second
MAX_BYTES_PER_RANK = 64  # bytes a rank

CALLS: dict[str, tuple[int, Callable[[int], int], tuple[int, ...]]] = {
    "barrier dissemination": (0, lambda p: p * ceil(log2(p)), (1 << 20, 1 << 30)),
    "allreduce recursive_doubling": (8, lambda p: p * ceil(log2(p)), (1 << 20, 1 << 30)),
    "allreduce rabenseifner": (1 << 30, lambda p: 2 * p * ceil(log2(p)), (1 << 20, 1 << 30)),
    "allgather ring": (8, lambda p: p * (p - 1), (1 << 12, 1 << 20)),
    "alltoall pairwise": (8, lambda p: p * (p - 1), (1 << 12, 1 << 20)),
    "allgather bruck": (8, lambda p: p * ceil(log2(p)), (1 << 17, 1 << 20)),
    "bcast binomial": (8, lambda p: p - 1, (1 << 20,)),
    "scan recursive_doubling": (8, lambda p: p * ceil(log2(p)) - p + 1, (1 << 20,)),
    "bcast binary": (8, lambda p: p - 1, (1 << 17, 1 << 20)),
    "alltoall linear": (8, lambda p: p * (p - 1), (256, 1024)),
}
"""Bytes, the number of messages by ranks, and the rank counts. In the first five and in the last, one rank is simulated
for all; ranks of the last have all messages under way at once. The next three are computed by level. The tree, whose
ranks send two messages in a round, is computed by events."""


def run() -> None:
    program = build_without_mpi(choose_mpi(None)) / "timpani-simulate"
    idle = simulate(program, "barrier dissemination", 2, 0).memory
    for name, (message_bytes, messages, rank_counts) in CALLS.items():
        for ranks in rank_counts:
            used = simulate(program, name, ranks, message_bytes)
            rate = messages(ranks) / max(used.seconds, 1e-3)
            memory = f"{used.memory / ranks:.0f} B a rank" if used.memory > idle else "less memory than can be measured"
            print(f"{name}, {ranks} ranks: {used.seconds:.2f} s, {rate / 1e6:.1f} M messages/s, {memory}", flush=True)
    print(
        f"must be: 2^20 ranks of a logarithmic algorithm at most {LARGEST_MUST_TAKE:g} s, "
        f"{MIN_MESSAGES_PER_SECOND / 1e6:g} M messages/s by events, {MAX_BYTES_PER_RANK} B a rank"
    )


@dataclass(frozen=True)
class Used:
    """Processor seconds, and the most memory in bytes: Linux counts what this process had in use when it started the
    program."""

    seconds: float
    memory: int


def run_measured(argv: Sequence[str | Path], asked: str = "") -> tuple[str, Used]:
    """What a program prints when it reads `asked`, and what it used; RuntimeError where it fails."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as printed:
        given.write(asked)
        given.seek(0)
        started = subprocess.Popen(argv, stdin=given, stdout=printed)
        _, status, used = os.wait4(started.pid, 0)
        printed.seek(0)
        answer = printed.read()
    if status != 0:
        raise RuntimeError(f"{argv[0]} ended with status {status}: {answer}")
    return answer, Used(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)


def simulate(program: Path, name: str, ranks: int, message_bytes: int) -> Used:
    """What one simulated call takes."""
    asked = f"costs 0 0.1 0 0 0 0 0 0 0 0 0 0 0 0 ; 0 1000 0.5 0 0\n{name} {ranks} {message_bytes} 0 1 time\n"
    answers, used = run_measured([program], asked)
    if "error" in answers:
        raise RuntimeError(f"{name} at {ranks} ranks: {answers}")
    return used
