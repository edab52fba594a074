"""How often do times say that a default depends on the ranks beside its own where it doesn't, and miss where it does?

Two campaigns of defaults, each measured in turn with an algorithm of ours: starts of their own, and shared. Pairs of
their launches are drawn at random, MOST_PAIRS for each default: as measured, and with the times among more ranks
multiplied by a factor. TIMPANI_BENCH_RANKS are the rank counts, TIMPANI_BENCH_ON a machine file or lab.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.command import timpani
from timpani.campaign.folder.load import load
from timpani.campaign.run.world_times import FACTOR, MOST_PAIRS, least_seen, reference
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.machine.here.cores import read_cores
from timpani.native.mpi import Mpi
from timpani.providers.own import own_catalogue
from timpani.study.study import parse_ranks

COLLECTIVES = (
    "bcast",
    "scatter",
    "gather",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
    "barrier",
)
SIZES = (8, 1024, 65536)
LAUNCHES = 20
DRAWN = 20_000  # rows of pairs of each default
RUNS = 200
FACTORS = (1.0, 1.5, 2.0, 3.0)

Proportions = dict[tuple[str, int, int], np.ndarray]
"""By collective, ranks and size: ln(the default's time / ours) in each launch."""


def run() -> None:
    """On the library that TIMPANI_BENCH_MPI names, else on all that are found."""
    ranks = os.environ.get("TIMPANI_BENCH_RANKS", "3,4")
    wanted = os.environ.get("TIMPANI_BENCH_MPI")
    for mpi in [choose_mpi(wanted)] if wanted else find_mpis():
        alone, among = _measured(mpi, ranks)
        most = max(parse_ranks(ranks))
        apart = sum(key[1] < most for key in alone) - len(among)
        print(
            f"{mpi}: {len(among)} defaults on the first of {most} ranks, without {apart} of rank counts that the "
            "campaign's own check kept apart",
            flush=True,
        )
        for factor in FACTORS if among else ():
            seen = [_seen(alone[key], among[key] + np.log(factor)) for key in among]
            means = np.mean(seen, axis=0)
            shares = ", ".join(f"{100 * means[pairs - 1]:.2f} % in {pairs}" for pairs in range(1, MOST_PAIRS + 1))
            worst = f"; {100 * np.max(seen, axis=0)[-1]:.2f} % of the one most often" * (factor == 1)
            print(f"  by a factor of {factor:g}, look different: {shares}{worst}", flush=True)
        if said := _said(alone, among):
            factor = float(np.median(said))
            seen = [_seen(alone[key], among[key] + np.log(factor))[-1] for key in among]
            print(f"  a run says a factor of {factor:.2f}, of which {100 * np.mean(seen):.0f} % are seen", flush=True)


def _measured(mpi: Mpi, ranks: str) -> tuple[Proportions, Proportions]:
    ours = own_catalogue(mpi)
    rows = [f'{name} = ["default", "{reference(ours, name)}"]' for name in COLLECTIVES]
    on = os.environ.get("TIMPANI_BENCH_ON")
    sharing = on is None and max(parse_ranks(ranks)) > read_cores().usable
    where = (*(("--on", on) if on else ()), *(("--oversubscribe",) if sharing else ()))
    found = []
    with tempfile.TemporaryDirectory() as root:
        study = Path(root) / "study.toml"
        study.write_text(
            f"ranks = {list(parse_ranks(ranks))}\nsizes = {list(SIZES)}\nlaunches = {LAUNCHES}\n"
            + "\n".join(["[collectives]", *rows, ""])
        )
        for way in ("separate", "shared"):
            folder = Path(root) / way
            timpani("run", str(study), "--mpi", str(mpi.mpirun), *where, "--starts", way, "-o", str(folder))
            results = load(folder).results
            found.append(
                _proportions(results.filter(pl.col("world") > pl.col("ranks")) if way == "shared" else results)
            )
    return found[0], found[1]


def _proportions(results: pl.DataFrame) -> Proportions:
    point = ["collective", "ranks", "message_bytes"]
    is_default = pl.col("algorithm") == "default"
    both = (
        results.filter(pl.col("error").is_null())
        .group_by(*point, "launch")
        .agg(
            pl.col("median_us").filter(is_default).first().alias("default"),
            pl.col("median_us").filter(~is_default).first().alias("ours"),
        )
    )
    logs = both.drop_nulls().with_columns((pl.col("default") / pl.col("ours")).log().alias("log"))
    return {key: part["log"].to_numpy() for key, part in logs.group_by(*point)}


def _said(alone: Proportions, among: Proportions) -> list[float]:
    """The factors from which on runs say that they see nine in ten; none where the defaults are too few."""
    generator = np.random.default_rng(2)
    firsts = ([generator.choice(among[key]) - generator.choice(alone[key]) for key in among] for _ in range(RUNS))
    return [seen for each in firsts if (seen := least_seen(np.exp(each).tolist())) is not None]


def _seen(alone: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The share of draws that look different in each of the first 1, 2, … MOST_PAIRS pairs."""
    generator = np.random.default_rng(1)
    shape = (DRAWN, MOST_PAIRS)
    ratios = generator.choice(among, shape) - generator.choice(alone, shape)
    longer, shorter = (
        np.logical_and.accumulate(side, axis=1) for side in (ratios > np.log(FACTOR), ratios < -np.log(FACTOR))
    )
    share: np.ndarray = (longer | shorter).mean(axis=0)
    return share
