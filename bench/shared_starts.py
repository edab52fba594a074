"""Do cells take the same time on the first ranks of a larger start, while the others sleep, as in starts of their own?

Three campaigns of the library's own choices: starts of their own, shared, and of their own once more. What changed
significantly from the first to the second (`timpani compare`) stands beside what changed from the first to the third,
where nothing did but the day. TIMPANI_BENCH_RANKS are the rank counts, TIMPANI_BENCH_ON a machine file or lab.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.command import timpani
from timpani.campaign.folder.load import Campaign, load
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.machine.here.cores import read_cores
from timpani.study.study import parse_ranks
from timpani.tuning.compare.changes import FASTER, changes
from timpani.tuning.decide.decide import SLOWER, WITHIN

COLLECTIVES = ("bcast", "allreduce", "alltoall")
SIZES = "8,1Ki,64Ki"
LAUNCHES = "10"


def run() -> None:
    """On the library that TIMPANI_BENCH_MPI names, else on all that are found."""
    ranks = os.environ.get("TIMPANI_BENCH_RANKS", "2,3,4")
    on = os.environ.get("TIMPANI_BENCH_ON")
    wanted = os.environ.get("TIMPANI_BENCH_MPI")
    sharing = on is None and max(parse_ranks(ranks)) > read_cores().usable
    for mpi in [choose_mpi(wanted)] if wanted else find_mpis():
        print(f"{mpi}: {', '.join(COLLECTIVES)}, {SIZES}, {ranks} ranks{', oversubscribed' * sharing}", flush=True)
        study = (
            *COLLECTIVES,
            "--algorithms",
            "default",
            "--sizes",
            SIZES,
            "--ranks",
            ranks,
            "--launches",
            LAUNCHES,
            "--mpi",
            str(mpi.mpirun),
        )
        where = (*(("--on", on) if on else ()), *(("--oversubscribe",) if sharing else ()))
        with tempfile.TemporaryDirectory() as root:
            campaigns = {}
            for name, way, seed in (
                ("separate", "separate", "1"),
                ("shared", "shared", "2"),
                ("again", "separate", "3"),
            ):
                folder = Path(root) / name
                seconds = timpani("run", *study, *where, "--starts", way, "--seed", seed, "-o", str(folder))
                campaigns[name] = load(folder)
                print(f"  {name}: {len(campaigns[name].launches)} starts, {seconds:.1f} s", flush=True)
        _compare("shared", campaigns["separate"], campaigns["shared"], only_sleeping=True)
        _compare("again", campaigns["separate"], campaigns["again"], only_sleeping=False)


def _compare(name: str, before: Campaign, after: Campaign, *, only_sleeping: bool) -> None:
    """Of the cells that ran beside sleeping ranks in the shared campaign; the others are the same in all three."""
    results = after.results.filter(pl.col("world") > pl.col("ranks")) if only_sleeping else after.results
    found = changes(before.results, results)
    ratios = np.log(found.cells["ratio"].drop_nulls().to_numpy())
    print(
        f"  separate → {name}: {found.cells.height} cells, {found.count(FASTER)} significantly faster, "
        f"{found.count(SLOWER)} slower, {found.count(WITHIN)} shown within 5 %; ratio {np.exp(np.median(ratios)):.3f} "
        f"in the middle, 9 of 10 within a factor of {np.exp(np.quantile(np.abs(ratios), 0.9)):.2f}",
        flush=True,
    )
