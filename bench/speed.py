"""Time to measure all broadcasts, exhaustively or as a race, versus a launch per algorithm and run with OSU's loop.

A race is compared with the number of runs by hand until their choices have no more regret than the race's, by a third
campaign. By hand, the algorithm with the lowest mean of OSU's averages is chosen.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import cells, timpani
from bench.common.cost_of_choices import Choices, LogTimes, choices_of, log_times, regret
from timpani.campaign.folder.load import load
from timpani.judge.raced import race_standings, raced_results
from timpani.study.schema import algorithm_label

LAUNCHES = 5
MAX_SECONDS = 60.0
MIN_GAIN = 5.0
MIN_RACE_GAIN = 10.0
MAX_RUNS_BY_HAND = 40
"""Runs of each algorithm by hand, at most."""

WHAT = ("run", "bcast", "--ranks", "2", "--sizes", "1:1Mi")


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        launches = ("--launches", str(LAUNCHES))
        ours = timpani(*WHAT, *launches, "--precision", "0.05", "-o", str(root / "ours"))
        found = cells(root / "ours")
        names: list[str] = found["label"].unique().to_list()
        converged = found.filter(~pl.col("status").str.contains("not_converged")).height / found.height
        print(
            f"{len(names)} algorithms × 21 sizes × {LAUNCHES} launches: {ours:.1f} s, {converged:.0%} of the cells "
            f"converged; must be under {MAX_SECONDS:.0f} s"
        )
        by_hand = sum(_by_hand(name, LAUNCHES, root / f"timed-{number}") for number, name in enumerate(names))
        print(
            f"one launch per algorithm and run, OSU's iterations: {by_hand:.1f} s, "
            f"{by_hand / ours:.1f} × as long; must be {MIN_GAIN:.0f} ×",
            flush=True,
        )
        _compare_race_with_runs_by_hand(root, names, by_hand / LAUNCHES)


def _by_hand(algorithm: str, launches: int, into: Path) -> float:
    asked = ("--launches", str(launches), "--method", "osu", "--algorithms", algorithm)
    return timpani(*WHAT, *asked, "-o", str(into))


def _compare_race_with_runs_by_hand(root: Path, names: list[str], seconds_of_a_run: float) -> None:
    race = timpani(*WHAT, "--regret", "2%", "-o", str(root / "race"))
    for number, name in enumerate(names):
        _by_hand(name, MAX_RUNS_BY_HAND, root / f"by-hand-{number}")
    timpani(*WHAT, "--seed", "3", "-o", str(root / "third"))
    third = log_times(load(root / "third"))
    of_race = _mean_regret(third, choices_of(race_standings(raced_results(load(root / "race"))), "choice_label"))
    print(f"raced to a regret of 2 %: {race:.1f} s; its choices have {of_race:.2%} regret on average")
    averages = pl.concat([load(root / f"by-hand-{number}").results for number in range(len(names))])
    enough = None
    for runs in range(1, MAX_RUNS_BY_HAND + 1):
        cost = _mean_regret(third, _least_means(averages.filter(pl.col("launch") <= runs)))
        enough = enough or (runs if cost <= of_race else None)
        if runs % LAUNCHES == 0 or runs == enough:
            seconds = runs * seconds_of_a_run
            print(f"by hand {runs} runs of each, {seconds:.0f} s ({seconds / race:.1f} ×): {cost:.2%}")
    when = f"first after {enough} runs" if enough else f"not after {MAX_RUNS_BY_HAND} runs"
    print(f"by hand the regret is as low {when}; must take {MIN_RACE_GAIN:.0f} × the race's time", flush=True)


def _least_means(averages: pl.DataFrame) -> Choices:
    labeled = averages.with_columns(algorithm_label())
    means = labeled.group_by("collective", "message_bytes", "label").agg(pl.mean("osu_avg_us"))
    least = means.sort("osu_avg_us").group_by("collective", "message_bytes", maintain_order=True).first()
    return choices_of(least, "label")


def _mean_regret(third: LogTimes, choices: Choices) -> float:
    return float(np.mean([regret(times, choices[point]) for point, times in third.items()]))
