"""A race versus an exhaustive campaign on this machine: time inside cells, and the regret of the choices.

Both measure the same on the same day. A third campaign gives the regret of their choices: the geometric mean over its
launches of the chosen algorithm's time over that of the best one in this campaign. So even a perfect choice has some
regret. At sizes that the race only sampled, the choice is the best of the few algorithms there.
"""

import gzip
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from bench.common.cost_of_choices import Choices, choices_of, log_times, regret
from timpani.campaign.folder.load import Campaign, load
from timpani.judge.decide import decide
from timpani.judge.raced import race_standings, race_verdict, raced_results
from timpani.libraries.find import choose_mpi, find_mpis
from timpani.study.cell import DEFAULT

HERE = ("bcast", "allreduce", "reduce", "allgather", "alltoall", "--sizes", "1:1M")
LAB = ("bcast", "allreduce", "--sizes", "1Ki:64Ki", "--ranks", "8", "--slot", "25ms")
"""Sizes that a race can leave out, and calls of some milliseconds, as links of 80 Mbit/s take them: what is longer than
the slot has one round in any case."""

ACCEPTED = "2%"


def run() -> None:
    """On the library that TIMPANI_BENCH_MPI names, else on all that are found; with 2 ranks here, or in the lab that
    TIMPANI_BENCH_ON names, with 8."""
    wanted = os.environ.get("TIMPANI_BENCH_MPI")
    on = os.environ.get("TIMPANI_BENCH_ON")
    for mpi in [choose_mpi(wanted)] if wanted else find_mpis():
        asked = (*LAB, "--on", on) if on else HERE
        print(f"{mpi}: {' '.join(asked)}", flush=True)
        with tempfile.TemporaryDirectory() as root:
            _compare(Path(root), (*asked, "--mpi", str(mpi.mpirun)))


def _compare(root: Path, asked: tuple[str, ...]) -> None:
    seconds = {
        "exhaustive": timpani("run", *asked, "-o", str(root / "exhaustive")),
        "race": timpani("run", *asked, "--regret", ACCEPTED, "-o", str(root / "race")),
        "third": timpani("run", *asked, "--seed", "3", "-o", str(root / "third")),
    }
    campaigns = {name: load(root / name) for name in seconds}
    third = log_times(campaigns["third"])
    inside = {name: sum(_measured_seconds(root / name)) for name in seconds}
    for name, campaign in campaigns.items():
        launches = campaign.results["launch"].n_unique()
        print(
            f"  {name}: {inside[name]:.1f} s inside cells, {seconds[name] - inside[name]:.1f} s of starts, "
            f"{launches} launches, {campaign.results.height} results"
        )
    print(
        f"  exhaustive / race: {inside['exhaustive'] / inside['race']:.2f} inside cells (wanted: 5, in a lab 10), "
        f"{seconds['exhaustive'] / seconds['race']:.2f} with starts"
    )
    standings = race_standings(raced_results(campaigns["race"]))
    verdict = race_verdict(raced_results(campaigns["race"]))
    if verdict:
        print(f"  race: bound of 2 % reached at {verdict.reached} of {verdict.points}; sampled {verdict.sampled} more")
    chosen: dict[str, Choices] = {
        "default": dict.fromkeys(third, DEFAULT),
        "exhaustive": _by_verdict(campaigns["exhaustive"]),
        "race": choices_of(standings, "choice_label"),
    }
    for name, choices in chosen.items():
        regrets = [regret(third[point], choices.get(point, DEFAULT)) for point in third]
        print(
            f"  choices of {name}: mean regret {100 * float(np.mean(regrets)):.2f} %, "
            f"9 in 10 at most {100 * float(np.quantile(regrets, 0.9)):.1f} % (third campaign, {len(regrets)} points)"
        )
    held = [
        regret(third[row["collective"], row["message_bytes"]], row["choice_label"]) <= row["regret_high"]
        for row in standings.filter(pl.col("regret_high").is_not_null()).iter_rows(named=True)
    ]
    print(f"  stated bounds that the third campaign's estimates keep: {np.mean(held):.0%} of {len(held)}", flush=True)


def _measured_seconds(folder: Path) -> list[float]:
    """Seconds of each launch from its first point to the end of its last."""
    found = []
    for path in (folder / "launches").glob("*/samples.jsonl.gz"):
        lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        spans = [(line["begin_ns"], line["end_ns"]) for line in lines if "begin_ns" in line]
        if spans:
            found.append((max(end for _, end in spans) - min(begin for begin, _ in spans)) / 1e9)
    return found


def _by_verdict(campaign: Campaign) -> Choices:
    """What is significantly faster than the default, else the default."""
    chosen = pl.when(verdict="better").then("best_label").otherwise(pl.lit(DEFAULT))
    return choices_of(decide(raced_results(campaign)).with_columns(chosen.alias("chosen")), "chosen")
