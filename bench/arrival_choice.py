"""Does choosing by the pattern in which ranks enter beat choosing where they enter together?

`TIMPANI_ARRIVAL_CAMPAIGNS=FOLDER python -m bench arrival_choice` reads campaigns of equal cells with different
`--arrival`. Odd launches choose an algorithm, even launches time it, and the other way round, so that no launch times
what it chose. Simulated times do not vary: one launch chooses and times. A gain above 1: the choice by the pattern is
faster. Its interval is over launches.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.load import load
from timpani.stats.sample import mean_estimate
from timpani.study.cell import TOGETHER

FOLDERS = "TIMPANI_ARRIVAL_CAMPAIGNS"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """Log times of the algorithms at one point; shape (launches, algorithms)."""

    algorithms: tuple[str, ...]
    log_times: Floats

    def best(self, launches: slice) -> int:
        """The algorithm with the smallest mean over these launches."""
        return int(np.argmin(self.log_times[launches].mean(axis=0)))


def times(results: pl.DataFrame) -> Times:
    """The completion times of one collective and size, of algorithms with a time in every launch."""
    parameters = pl.when(pl.col("parameters") == "").then(pl.lit("")).otherwise(pl.format(":{}", "parameters"))
    label = pl.format("{}/{}{}", "provider", "algorithm", parameters).alias("label")
    long = results.filter(pl.col("median_us") > 0).select("launch", label, "median_us")
    wide = long.pivot("label", index="launch", values="median_us").sort("launch").drop("launch")
    complete = [name for name in wide.columns if not wide[name].is_null().any()]
    return Times(tuple(complete), np.log(wide.select(complete).to_numpy()))


def ratio(chooses: Times, pattern: Times) -> tuple[str, str, Floats]:
    """The choice of `chooses`, that of `pattern`, and log ratios of their times under the pattern by launch."""
    halves = (slice(0, None, 2), slice(1, None, 2))
    splits = (halves, halves[::-1]) if len(pattern.log_times) > 1 else ((slice(None), slice(None)),)
    names, found = [], []
    for chosen, timed in splits:
        name = chooses.algorithms[chooses.best(chosen)]
        ours = pattern.best(chosen)
        other = pattern.algorithms.index(name) if name in pattern.algorithms else ours
        names.append((name, pattern.algorithms[ours]))
        found.append(pattern.log_times[timed, other] - pattern.log_times[timed, ours])
    chosen_names = (" or ".join(dict.fromkeys(each)) for each in zip(*names, strict=True))
    return next(chosen_names), next(chosen_names), np.concatenate(found)


def in_words(log_ratios: Floats) -> str:
    """The geometric mean, with its 95 % interval by Student's t over several launches."""
    found = mean_estimate(log_ratios)
    interval = f" ({np.exp(found.low):.2f} to {np.exp(found.high):.2f})" if log_ratios.size > 1 else ""
    return f"{np.exp(found.value):.2f}{interval}"


def run() -> None:
    """Print both ratios of every point: under each pattern, and where ranks enter together."""
    folder = os.environ.get(FOLDERS)
    if folder is None:
        print(f"set {FOLDERS} to a folder of campaigns: docs/notebook/arrival.md has the commands")
        return
    found = {}
    for path in sorted(Path(folder).iterdir()):
        results = load(path).results
        for (collective, size, arrival), rows in results.group_by("collective", "message_bytes", "arrival"):
            found[collective, size, arrival] = times(rows)
    print("| collective | bytes | pattern | chosen together | chosen by the pattern | gain | gain where together |")
    print("|---|---|---|---|---|---|---|")
    for (collective, size, arrival), pattern in sorted(found.items()):
        together = found.get((collective, size, TOGETHER))
        if arrival == TOGETHER or together is None:
            continue
        by_together, by_pattern, gain = ratio(together, pattern)
        *_, loss = ratio(pattern, together)
        row = (collective, str(size), arrival, by_together, by_pattern, in_words(gain), in_words(-loss))
        print(f"| {' | '.join(row)} |")
