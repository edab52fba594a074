"""What a schedule costs over code written for the purpose: Open MPI's, a ring written by hand; and what plans cost."""

import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import output, timpani
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import LaunchRequest
from timpani.machine.launchers import command
from timpani.native.build import build
from timpani.native.mpi import Mpi

MAX_RATIO = 1.05
LOGARITHMIC_MUST_TAKE = 1.0  # ms
RING_MUST_TAKE = 20.0  # ms
PLAN_RANKS, PLAN_BYTES = 4096, 1 << 20
SAME = {"bcast": "binomial", "allgather": "ring", "allreduce": "recursive_doubling"}


def run() -> None:
    mpi = choose_mpi("openmpi")
    with tempfile.TemporaryDirectory() as folder:
        against_the_library(Path(folder), mpi)
        programs = build_benchmarks(mpi)
        against_a_hand(programs, mpi)
        plans(programs)


def against_the_library(folder: Path, mpi: Mpi) -> None:
    """Timpani's and Open MPI's implementation of the same algorithm, interleaved in the same launches."""
    asked = ("--ranks", "2", "--sizes", "8:1Mi", "--launches", "10", "--mpi", str(mpi.mpirun))
    for collective, same in SAME.items():
        names = f"openmpi/{same},timpani/{same}"
        timpani("run", collective, "--algorithms", names, *asked, "-o", str(folder / collective))
    ratios = ratio_to_library(pl.concat([load(folder / collective).results for collective in SAME]))
    for (collective,), part in ratios.group_by("collective", maintain_order=True):
        listed = " ".join(f"{ratio:.2f}" for ratio in part.sort("message_bytes")["ratio"])
        print(f"{collective} {SAME[str(collective)]}, 8 B … 1 MiB, Timpani / {mpi.title}: {listed}")
    mean = np.exp(np.log(ratios["ratio"].to_numpy()).mean())
    print(f"geometric mean of {ratios.height} ratios: {mean:.3f}; must be at most {MAX_RATIO}")


def ratio_to_library(results: pl.DataFrame) -> pl.DataFrame:
    """Per collective and size the median over launches of Timpani's time over the library's, interleaved."""
    point = ["collective", "message_bytes"]
    ours, theirs = (
        results.filter((pl.col("provider") == "timpani") == own).select(*point, "launch", "relative")
        for own in (True, False)
    )
    return (
        ours.join(theirs, on=[*point, "launch"], suffix="_theirs")
        .group_by(point, maintain_order=True)
        .agg((pl.col("relative") / pl.col("relative_theirs")).median().alias("ratio"))
    )


def build_benchmarks(mpi: Mpi) -> Path:
    """The folder with the native benchmarks, and the library that is preloaded."""
    return build(mpi, programs=("timpani-bench-ring", "timpani-bench-plans", "timpani-bench-pass-through", "timpani"))


def against_a_hand(programs: Path, mpi: Mpi) -> None:
    request = LaunchRequest(2, "core", False, (), {}, (str(programs / "timpani-bench-ring"),))
    started = command(mpi, request)
    lines = [json.loads(line) for line in output(started.argv, started.environment).splitlines()]
    ratios = [line["schedule_ns"] / line["by_hand_ns"] for line in lines]
    print(f"ring allgather, 8 B … 1 MiB, Timpani / written by hand: {' '.join(f'{ratio:.2f}' for ratio in ratios)}")
    print(f"geometric mean: {np.exp(np.log(ratios).mean()):.3f}")


def plans(programs: Path) -> None:
    program = str(programs / "timpani-bench-plans")
    lines = map(json.loads, output([program, str(PLAN_RANKS), str(PLAN_BYTES)]).splitlines())
    by_kind: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    for line in lines:
        logarithmic = line["rounds"] <= 4 * np.log2(PLAN_RANKS) + PLAN_BYTES / 8192  # with the standard segments
        by_kind[bool(logarithmic)].append((1e3 * line["seconds"], f"{line['collective']}/{line['algorithm']}"))
    for logarithmic, wanted in ((True, LOGARITHMIC_MUST_TAKE), (False, RING_MUST_TAKE)):
        slowest = ", ".join(f"{name} {milliseconds:.2f}" for milliseconds, name in sorted(by_kind[logarithmic])[:-4:-1])
        kind = "few rounds" if logarithmic else "about as many rounds as ranks"
        print(f"plans of one of {PLAN_RANKS} ranks, {kind}: ms at most {slowest}; must be under {wanted:g}")
