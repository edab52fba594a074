"""How fast schedules are simulated, by processor time, and how much memory that takes."""

import os
import subprocess
from collections.abc import Callable
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
    _, idle = simulate(program, "barrier dissemination", 2, 0)
    for name, (message_bytes, messages, rank_counts) in CALLS.items():
        for ranks in rank_counts:
            seconds, kibibytes = simulate(program, name, ranks, message_bytes)
            rate = messages(ranks) / max(seconds, 1e-3)
            # Linux counts what this process had in use when it started the other.
            memory = (
                f"{1024 * kibibytes / ranks:.0f} B a rank" if kibibytes > idle else "less memory than can be measured"
            )
            print(f"{name}, {ranks} ranks: {seconds:.2f} s, {rate / 1e6:.1f} M messages/s, {memory}", flush=True)
    print(
        f"must be: 2^20 ranks of a logarithmic algorithm at most {LARGEST_MUST_TAKE:g} s, "
        f"{MIN_MESSAGES_PER_SECOND / 1e6:g} M messages/s by events, {MAX_BYTES_PER_RANK} B a rank"
    )


def simulate(program: Path, name: str, ranks: int, message_bytes: int) -> tuple[float, int]:
    """Processor time in seconds, and the most memory in KiB, of one simulated call."""
    started = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(f"costs 0 0.1 0 0 0 ; 0 1000 0.5 0 0\n{name} {ranks} {message_bytes} 0 1 time\n")
    started.stdin.close()
    answers = started.stdout.read()
    _, status, used = os.wait4(started.pid, 0)
    if status != 0 or "error" in answers:
        raise RuntimeError(f"{name} at {ranks} ranks ended with status {status}: {answers}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss
