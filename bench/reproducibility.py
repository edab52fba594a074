"""How much a figure changes from one campaign to the next: Timpani's method versus OSU's at equal wall time.

Timpani has one median for each state of the machine, found from the probes of all campaigns together; OSU's averages
ignore states. Then the ratio of two algorithms, which Timpani interleaves.
"""

import math
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

import polars as pl

from bench.common.command import timpani
from timpani.campaign.folder.load import load
from timpani.campaign.folder.machine_states import with_states
from timpani.judge.decide import compare_with_default
from timpani.judge.raced import RacedResults
from timpani.study.schema import CHANGED, STATE

CAMPAIGNS = 10
LAUNCHES = 8
SIZES = "1:1Mi*4"
OTHER = "binomial"
MIN_CAMPAIGNS = 4
"""Minimum number of campaigns in a state for its spread to be printed."""

MAX_QUOTIENT = 0.2


def run() -> None:
    common = ("run", "bcast", "--algorithms", f"default,{OTHER}", "--ranks", "2", "--sizes", SIZES)
    ours: list[pl.DataFrame] = []
    osu: list[pl.DataFrame] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ours_seconds = timpani(*common, "--launches", str(LAUNCHES), "-o", str(root / "ours-trial"))
        osu_seconds = timpani(*common, "--method", "osu", "--launches", str(LAUNCHES), "-o", str(root / "osu-trial"))
        osu_launches = max(1, round(LAUNCHES * ours_seconds / osu_seconds))  # OSU's launches get the same time
        print(
            f"one campaign of Timpani's, {LAUNCHES} launches: {ours_seconds:.1f} s; "
            f"OSU's protocol in that time: {osu_launches} launches"
        )
        for campaign in range(CAMPAIGNS):  # alternately, so that both see the same machine
            for found, which, launches in ((ours, "ours", LAUNCHES), (osu, "osu", osu_launches)):
                where = str(root / f"{which}-{campaign}")
                method = ("--method", "osu") if which == "osu" else ()
                timpani(*common, *method, "--launches", str(launches), "--seed", str(campaign), "-o", where)
                found.append(load(Path(where)).results)
    levels, theirs = _levels(ours), _averages(osu, "default")
    ratios, their_ratios = _ratios(ours), _averages(osu, OTHER)
    quotients = []
    for size, of_size in sorted(theirs.items()):
        their_ratio = [one / other for one, other in zip(of_size, their_ratios[size], strict=True)]
        states = {state: spread(values) for state, values in levels[size].items() if len(values) >= MIN_CAMPAIGNS}
        quotients += [value / spread(of_size) for value in states.values()]
        spreads = ", ".join(
            f"{state or 'one state'} {value:.4f} ({len(levels[size][state])})" for state, value in states.items()
        )
        print(
            f"{size:>9} B  MAD/median: Timpani's {spreads}; OSU's {spread(of_size):.4f}.  "
            f"Ratio: Timpani's {spread(ratios[size]):.4f}, OSU's {spread(their_ratio):.4f}"
        )
    mean = math.exp(statistics.fmean(math.log(quotient) for quotient in quotients))
    print(
        f"spread over {CAMPAIGNS} campaigns, Timpani's per state over OSU's: {mean:.2f}; must be at most {MAX_QUOTIENT}"
    )


def _levels(campaigns: list[pl.DataFrame]) -> dict[int, dict[str, list[float]]]:
    """The default's median in each campaign, by size and state."""
    numbered = [frame.with_columns(pl.lit(number).alias("campaign")) for number, frame in enumerate(campaigns)]
    pooled = pl.concat(numbered).drop(STATE)
    pooled = with_states(pooled.with_columns(launch=pl.col("campaign") * LAUNCHES + pl.col("launch")))
    medians = (
        pooled.filter(pl.col("algorithm") == "default", pl.col(STATE).fill_null("") != CHANGED)
        .group_by("message_bytes", pl.col(STATE).fill_null(""), "campaign", maintain_order=True)
        .agg(pl.median("median_us"), pl.len())
        .filter(pl.col("len") > 1)
    )
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for size, state, _, median, _ in medians.iter_rows():
        found[size][state].append(median)
    return found


def _ratios(campaigns: list[pl.DataFrame]) -> dict[int, list[float]]:
    """The default's time over the other's in each campaign, by size."""
    found: dict[int, list[float]] = defaultdict(list)
    for results in campaigns:
        for row in compare_with_default(RacedResults.from_rows(results)).iter_rows(named=True):
            found[row["message_bytes"]].append(row["ratio"])
    return found


def _averages(campaigns: list[pl.DataFrame], algorithm: str) -> dict[int, list[float]]:
    """What OSU's protocol prints in each campaign, by size: the mean over its launches."""
    found: dict[int, list[float]] = defaultdict(list)
    for results in campaigns:
        of_one = results.filter(pl.col("algorithm") == algorithm)
        for size, average in (
            of_one.group_by("message_bytes", maintain_order=True).agg(pl.mean("osu_avg_us")).iter_rows()
        ):
            found[size].append(average)
    return found


def spread(values: list[float]) -> float:
    """MAD over median; at least a thousandth, the resolution of a figure printed in three digits."""
    middle = statistics.median(values)
    return max(1e-3, statistics.median(abs(value - middle) for value in values) / middle)
