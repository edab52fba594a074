"""Timpani's simulator versus LogGOPSim, github.com/spcl/LogGOPSim, on the same schedules, which it reads as GOAL text.

The environment's LOGGOPSIM names the folder of its programs `txt2bin` and `LogGOPSim`.
"""

import os
import re
import tempfile
from pathlib import Path

from bench.simulation import Used, run_measured, simulate
from timpani.libraries.find import choose_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import CostLine, Costs, NotSimulated, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

MUST_BE = 50  # times as many messages a second as LogGOPSim, its reading included

_PARAMETERS = ("-L", "1000", "-o", "0", "-g", "1000", "-G", "2", "-O", "0")
_COSTS = Costs(reduced=1.0, copied=1.0, messages=((CostLine(gap=998.0, per_byte=2.0),),))
"""The same, in nanoseconds: G is charged for the bytes behind the first, and `calc` takes one for each byte."""

_EAGER, _RENDEZVOUS = 1 << 30, 0  # bytes from which LogGOPSim has a message wait for its receiver
_LEAST_SECONDS = 0.005  # resolution of processor time
_LAST = re.compile(r"Maximum finishing time at host \d+: (\d+)|^Host \d+: (\d+)", re.MULTILINE)

TIMED = [
    *(("bcast", name) for name in ("binomial", "binary", "linear", "chain", "scatter_allgather")),
    *(("allreduce", name) for name in ("recursive_doubling", "rabenseifner", "ring")),
    *(("allgather", name) for name in ("recursive_doubling", "ring", "bruck")),
    *(("alltoall", name) for name in ("linear", "pairwise")),
    *(("barrier", "dissemination"), ("reduce", "binomial"), ("scatter", "binomial"), ("gather", "binomial")),
]
"""Whose completion is compared, 1 KiB on 16 and on 37 ranks; they differ where the two simulators' rules do."""

RACED = [
    ("bcast", "binary", 1 << 16),
    ("bcast", "binary", 1 << 20),
    ("bcast", "binomial", 1 << 20),
    ("allgather", "bruck", 1 << 16),
    ("barrier", "dissemination", 1 << 16),
]
"""Calls of 8 B whose simulation is timed, and their ranks."""


def run() -> None:
    if not (folder := os.environ.get("LOGGOPSIM")):
        print("left out: LOGGOPSIM names no folder of LogGOPSim's programs")
        return
    peer = Path(folder).resolve()
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    with tempfile.TemporaryDirectory() as scratch:
        compare_times(peer, simulator, Path(scratch))
        compare_speed(peer, simulator, Path(scratch))


def compare_times(peer: Path, simulator: Simulator, scratch: Path) -> None:
    for ranks in (16, 37):
        for collective, name in TIMED:
            call = _call(collective, name, ranks, 1024)
            [ours] = simulator.times([call], _COSTS)
            if isinstance(ours, NotSimulated):
                print(f"{collective} {name}, {ranks} ranks: {ours.why}")
                continue
            _read(peer, simulator, call, scratch)
            theirs = [_finish(peer, scratch, limit)[0] for limit in (_EAGER, _RENDEZVOUS)]
            same = (
                "the same" if theirs == [ours, ours] else f"{theirs[0]:.0f} ns eager, {theirs[1]:.0f} ns by rendezvous"
            )
            print(f"{collective} {name}, {ranks} ranks, 1 KiB: Timpani {ours:.0f} ns, LogGOPSim {same}", flush=True)


def compare_speed(peer: Path, simulator: Simulator, scratch: Path) -> None:
    program = simulator.programs / "timpani-simulate"
    for collective, name, ranks in RACED:
        call = _call(collective, name, ranks, 0 if collective == "barrier" else 8)
        size, reading = _read(peer, simulator, call, scratch)
        theirs, running = _finish(peer, scratch, _EAGER)
        [ours] = simulator.times([call], _COSTS)
        simulated = simulate(program, f"{collective} {name}", ranks, call.count)
        seconds = max(simulated.seconds, _LEAST_SECONDS)
        with_reading = (reading.seconds + running.seconds) / seconds
        memory = max(reading.memory, running.memory)
        print(
            f"{collective} {name}, {ranks} ranks, {size / 1e6:.1f} MB of text: LogGOPSim reads {reading.seconds:.2f} s "
            f"and runs {running.seconds:.2f} s in at most {memory / 1e6:.0f} MB. "
            f"Timpani takes {seconds:.2f} s in at most {simulated.memory / 1e6:.0f} MB: "
            f"{with_reading:.0f} times as fast with its reading (must be {MUST_BE}), "
            f"{running.seconds / seconds:.1f} without; "
            f"{'the same time' if theirs == ours else f'{theirs:.0f} ns, Timpani {ours} ns'}",
            flush=True,
        )


def _call(collective: str, name: str, ranks: int, message_bytes: int) -> SimulatedCall:
    return SimulatedCall(collective, Algorithm(OWN, name), ranks, message_bytes)


def _read(peer: Path, simulator: Simulator, call: SimulatedCall, scratch: Path) -> tuple[int, Used]:
    """Bytes of the call's text, and what turning it into LogGOPSim's own form takes."""
    text = scratch / "call.goal"
    with text.open("wb") as file:
        file.writelines(simulator.goal(call))
    return text.stat().st_size, run_measured([peer / "txt2bin", "-i", text, "-o", scratch / "call.bin"])[1]


def _finish(peer: Path, scratch: Path, rendezvous_from: int) -> tuple[float, Used]:
    """When the last rank ends, in nanoseconds, and what finding that takes."""
    settings = (*_PARAMETERS, "-S", str(rendezvous_from))
    answer, used = run_measured([peer / "LogGOPSim", "-f", scratch / "call.bin", *settings])
    return max(float(a or b) for a, b in _LAST.findall(answer)), used
