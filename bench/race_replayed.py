"""What would a race have chosen, and measured, of what an exhaustive campaign measured?

The campaign's launches are the oracle: each launch of a race is one of them, drawn with replacement, of which the race
sees the cells that it asked for. The truth is what all launches of the oracle say, the geometric mean of ratios. A cell
costs what it did in that launch: of the time from the end of the point before to the end of its own, its warm-up
included, a share by how long its own calls took. What a race saves inside a launch, where losers get no more turns, is
not in it.
"""

import gzip
import json
import os
import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from bench.command import timpani
from timpani.campaign.agenda import Racing, point_of
from timpani.campaign.load import load
from timpani.campaign.record import LaunchResult
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import REGRET
from timpani.study.study import MOST_LAUNCHES
from timpani.tuning.race import Race, RacePoint

RACES = 200
ACCEPTED = 0.02
COLLECTIVES = ("bcast", "allreduce", "reduce", "allgather", "alltoall")


@dataclass(frozen=True)
class Oracle:
    """An exhaustive campaign: `launches` of results, and what each cell took in each, seconds."""

    launches: tuple[dict[Cell, LaunchResult], ...]
    seconds: tuple[dict[Cell, float], ...]

    @cached_property
    def truth(self) -> dict[RacePoint, dict[Algorithm, float]]:
        """Mean log times of a point's algorithms over all launches, in proportion to each other where they took
        turns."""
        times: defaultdict[RacePoint, defaultdict[Algorithm, list[float]]] = defaultdict(lambda: defaultdict(list))
        for results in self.launches:
            for cell, result in results.items():
                taken = result.relative or result.median_us or np.nan
                times[point_of(cell)][cell.algorithm].append(float(np.log(taken)))
        return {
            point: {each: float(np.mean(found)) for each, found in of.items() if len(found) == len(self.launches)}
            for point, of in times.items()
        }

    def regret(self, point: RacePoint, chosen: Algorithm) -> float:
        """What `chosen` takes longer than the best one, as a share."""
        times = self.truth[point]
        return float(np.expm1(times.get(chosen, np.inf) - min(times.values())))


def run() -> None:
    """On the campaigns that TIMPANI_BENCH_CAMPAIGNS names, separated by commas, else on one measured here."""
    folders = [Path(text) for text in os.environ.get("TIMPANI_BENCH_CAMPAIGNS", "").split(",") if text]
    with tempfile.TemporaryDirectory() as root:
        if not folders:
            folders = [Path(root) / "oracle"]
            timpani("run", *COLLECTIVES, "--sizes", "1:1M", "-o", str(folders[0]))
        for folder in folders:
            _replay(folder)


def _replay(folder: Path) -> None:
    oracle = _oracle(folder)
    points = list(oracle.truth)
    cells = list(dict.fromkeys(cell for results in oracle.launches for cell in results))
    everything = sum(sum(spent.values()) for spent in oracle.seconds)
    print(
        f"{folder}: {len(cells)} cells at {len(points)} points, {len(oracle.launches)} launches, "
        f"{everything:.1f} s inside cells; {RACES} races, {ACCEPTED:.0%} accepted, {MOST_LAUNCHES} launches at most",
        flush=True,
    )
    default = [oracle.regret(point, each) for point in points for each in oracle.truth[point] if each.is_default]
    print(f"  default: mean regret {np.mean(default):.2%}, at most {max(default):.0%}")
    random = np.random.default_rng(1)
    regrets, kept, seconds, launches = [], [], [], []
    for _ in range(RACES):
        race, spent, count = _race(oracle, cells, random)
        seconds.append(spent)
        launches.append(count)
        for point in points:
            standing = race.standing(point)
            if standing.choice is None:
                continue
            regret = oracle.regret(point, standing.choice)
            regrets.append(regret)
            if np.isfinite(standing.regret):
                kept.append(regret <= standing.regret)
    print(
        f"  race: mean regret {np.mean(regrets):.2%}, 99 of 100 at most {np.quantile(regrets, 0.99):.1%}; bounds hold "
        f"at {np.mean(kept):.1%} of points, those that were looked at too"
    )
    print(
        f"  race: {np.mean(seconds):.1f} s inside cells ({np.min(seconds):.1f} to {np.max(seconds):.1f}), "
        f"1/{everything / np.mean(seconds):.1f} of everything; {np.mean(launches):.0f} launches",
        flush=True,
    )


def _race(oracle: Oracle, cells: list[Cell], random: np.random.Generator) -> tuple[Race, float, int]:
    """A race to its end, the seconds inside its cells, and how many launches it took."""
    agenda = Racing(cells, MOST_LAUNCHES, ACCEPTED)
    spent = 0.0
    for launch in range(1, MOST_LAUNCHES + 2):
        wanted = agenda.wanted(launch)
        if not wanted:
            return agenda.race, spent, launch - 1
        drawn = int(random.integers(len(oracle.launches)))
        for cell in wanted & oracle.launches[drawn].keys():
            agenda.take(replace(oracle.launches[drawn][cell], launch=launch))
            spent += oracle.seconds[drawn].get(cell, 0.0)
    raise AssertionError("no race goes on after its last launch")


def _oracle(folder: Path) -> Oracle:
    launches: defaultdict[int, dict[Cell, LaunchResult]] = defaultdict(dict)
    seconds: defaultdict[int, dict[Cell, float]] = defaultdict(dict)
    turns: defaultdict[tuple[str, int], list[LaunchResult]] = defaultdict(list)
    for row in load(folder).results.drop("state", REGRET).iter_rows(named=True):
        result = LaunchResult.from_line(row)
        if result.error is not None or not result.median_us:
            continue
        launches[result.launch][result.cell] = result
        if result.part and result.in_turn:
            turns[result.part, int(result.in_turn.partition("/")[2])].append(result)
    spans = {
        part: _seconds_of_points(folder / "launches" / part / "samples.jsonl.gz")
        for part in {part for part, _ in turns}
    }
    for (part, began), rivals in turns.items():
        calls = np.array([(each.median_us or 0.0) * (each.repetitions or 0) for each in rivals])
        for each, share in zip(rivals, calls / calls.sum(), strict=True):
            seconds[each.launch][each.cell] = spans[part][began] * float(share)
    numbers = sorted(launches)
    return Oracle(tuple(launches[each] for each in numbers), tuple(seconds[each] for each in numbers))


def _seconds_of_points(samples: Path) -> dict[int, float]:
    """By when a point began to be measured: what it took, its warm-up included."""
    lines = [json.loads(line) for line in gzip.decompress(samples.read_bytes()).splitlines()]
    points = sorted({(line["end_ns"], line["begin_ns"]) for line in lines if "begin_ns" in line})
    before = min((begin for _, begin in points), default=0)
    found = {}
    for end, begin in points:
        found[begin] = (end - before) / 1e9
        before = end
    return found
