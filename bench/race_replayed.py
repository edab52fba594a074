"""What would a race have chosen, and measured, of what an exhaustive campaign measured?

The campaign's launches are the oracle. Each launch of a race is one of them, drawn with replacement. The race sees the
cells that it asks for. The truth is the geometric mean of
ratios over all launches of the oracle. A cell costs its share of the point's checks and warm-up, and the time of its
calls. A start costs as much as the campaign's. What a race saves inside a launch by no longer measuring slow algorithms
is not included.
"""

import gzip
import hashlib
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.common.command import timpani
from bench.race import ACCEPTED, Floats
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import load
from timpani.race.agenda import Racing
from timpani.race.race import Race
from timpani.study.cell import Algorithm, Cell
from timpani.study.defaults import MAX_LAUNCHES
from timpani.study.point_weights import Point
from timpani.study.schema import ALLOWED, REGRET

RACES = int(os.environ.get("TIMPANI_BENCH_RACES", "200"))
COLLECTIVES = ("bcast", "allreduce", "reduce", "allgather", "alltoall")


@dataclass(frozen=True)
class Turn:
    """A cell in a launch: its result, and the logarithm of its time in each of its rounds."""

    result: LaunchResult
    log_times: Floats


@dataclass(frozen=True)
class Oracle:
    """An exhaustive campaign: each launch's cells by what was interleaved, and the time of a start in seconds."""

    launches: tuple[tuple[dict[Cell, Turn], ...], ...]
    start_s: float

    @cached_property
    def truth(self) -> dict[Point, dict[Algorithm, float]]:
        """Mean log times of a point's algorithms over all launches, relative to each other if they were
        interleaved."""
        times: defaultdict[Point, defaultdict[Algorithm, list[float]]] = defaultdict(lambda: defaultdict(list))
        for points in self.launches:
            for turns in points:
                for cell, turn in turns.items():
                    taken = turn.result.relative or turn.result.median_us or np.nan
                    times[Point.from_cell(cell)][cell.algorithm].append(float(np.log(taken)))
        return {
            point: {each: float(np.mean(found)) for each, found in of.items() if len(found) == len(self.launches)}
            for point, of in times.items()
            if any(len(found) == len(self.launches) for found in of.values())
        }

    def regret(self, point: Point, chosen: Algorithm) -> float:
        """What `chosen` takes longer than the best one, as a share."""
        times = self.truth[point]
        return float(np.expm1(times.get(chosen, np.inf) - min(times.values())))

    def everything_s(self) -> float:
        """Seconds inside all cells."""
        points = (turns for launch in self.launches for turns in launch)
        return sum(_seconds(turn.result, len(turns)) for turns in points for turn in turns.values())


@dataclass
class Spent:
    """What a race took: seconds inside cells, and of starts; launches."""

    inside: float = 0.0
    starting: float = 0.0
    launches: int = 0


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
    cells = list(dict.fromkeys(cell for launch in oracle.launches for turns in launch for cell in turns))
    everything, launches = oracle.everything_s(), len(oracle.launches)
    print(
        f"{folder}: {len(cells)} cells at {len(points)} points, {launches} launches, {everything:.1f} s inside cells, "
        f"{everything + launches * oracle.start_s:.1f} s with starts; {RACES} races, {ACCEPTED:.0%} accepted, "
        f"{MAX_LAUNCHES} launches at most",
        flush=True,
    )
    default = [oracle.regret(point, each) for point in points for each in oracle.truth[point] if each.is_default]
    print(f"  default: mean regret {np.mean(default):.2%}, at most {max(default):.0%}")
    _races(oracle, cells)


def _races(oracle: Oracle, cells: list[Cell]) -> None:
    random = np.random.default_rng(1)
    regrets, kept, took, reached = [], [], [], []
    for _ in range(RACES):
        race, spent = _race(oracle, cells, random)
        took.append(spent)
        for point in oracle.truth:
            standing = race.standing(point)
            if standing.choice is None:
                continue
            regret = oracle.regret(point, standing.choice)
            regrets.append(regret)
            reached.append(standing.done)
            if np.isfinite(standing.regret):
                kept.append(regret <= standing.regret)
    inside = [each.inside for each in took]
    in_all = np.mean([each.inside + each.starting for each in took])
    print(
        f"  races: mean regret {np.mean(regrets):.2%}, 99 of 100 at most {np.quantile(regrets, 0.99):.1%}; over at "
        f"{np.mean(reached):.0%} of points; bounds hold at {np.mean(kept):.1%}, sampled ones included"
    )
    print(
        f"  races: {np.mean(inside):.1f} s inside cells ({min(inside):.1f} to {max(inside):.1f}), "
        f"1/{oracle.everything_s() / np.mean(inside):.1f} of everything; {in_all:.1f} s with starts; "
        f"{np.mean([each.launches for each in took]):.0f} launches",
        flush=True,
    )


def _race(oracle: Oracle, cells: list[Cell], random: np.random.Generator) -> tuple[Race, Spent]:
    """A race to its end, and what it took."""
    agenda = Racing(cells, MAX_LAUNCHES, ACCEPTED)
    spent = Spent()
    for launch in range(1, MAX_LAUNCHES + 2):
        wanted = agenda.wanted(launch)
        if not wanted:
            return agenda.race, spent
        spent.launches += 1
        spent.starting += oracle.start_s
        for turns in oracle.launches[int(random.integers(len(oracle.launches)))]:
            competing = wanted & turns.keys()
            if not competing:
                continue
            for result in _replayed_results(turns, competing):
                agenda.take(replace(result, launch=launch))
                spent.inside += _seconds(result, len(competing))
    raise AssertionError("no race continues after its last launch")


def _replayed_results(turns: dict[Cell, Turn], cells: Collection[Cell]) -> Iterator[LaunchResult]:
    """The results of `cells` alone."""
    chosen = [turns[cell] for cell in sorted(cells)]
    times = np.array([turn.log_times for turn in chosen])
    times = times[:, np.isfinite(times).all(axis=0)]  # where each has a valid repetition
    if not (number := times.shape[1]):
        return
    proportions = times - times.mean(axis=0)
    for turn, row in zip(chosen, proportions, strict=True):
        whole = turn.result
        share = len(chosen) / len(turns)  # of the point
        yield replace(
            whole,
            relative=float(np.exp(row.mean())),
            relative_error=float(row.std(ddof=1) / np.sqrt(number)) if number > 1 else None,
            rounds=number,
            repetitions=round(whole.repetitions * number / len(turn.log_times)),
            setup_s=(whole.setup_s or 0.0) * share,
            bursts_s=sum(_burst_s(each, turns) for each in chosen) * number,
        )


def _burst_s(turn: Turn, turns: dict[Cell, Turn]) -> float:
    """Seconds of one burst of a cell: its share of the interleaved cells' time, by the time of its calls."""
    calls = sum(float(np.nansum(np.exp(each.log_times))) for each in turns.values())
    return (turn.result.bursts_s or 0.0) * float(np.nanmean(np.exp(turn.log_times))) / calls


def _seconds(result: LaunchResult, cells: int) -> float:
    """A cell's share of the seconds of its point, which has `cells` cells."""
    return ((result.setup_s or 0.0) + (result.bursts_s or 0.0)) / cells


def _oracle(folder: Path) -> Oracle:
    campaign = load(folder)
    results = [
        LaunchResult.from_line(row) for row in campaign.results.drop("state", REGRET, ALLOWED).iter_rows(named=True)
    ]
    points: defaultdict[int, defaultdict[str, dict[Cell, Turn]]] = defaultdict(lambda: defaultdict(dict))
    measured = [each for each in results if each.error is None and each.median_us and each.relative]
    parts = {each.part for each in measured if each.part}
    log_times = {part: _log_times(folder / "launches" / part / "samples.jsonl.gz") for part in parts}
    for result in measured:
        if result.part and result.interleaving and result.samples:
            points[result.launch][result.interleaving][result.cell] = Turn(
                result, log_times[result.part][result.samples]
            )
    start_s = _start_seconds(measured, campaign.launches)
    assert start_s is not None, "no launch of the campaign came to its end"
    return Oracle(tuple(tuple(points[launch].values()) for launch in sorted(points)), start_s)


def _start_seconds(measured: Collection[LaunchResult], launches: Collection[Mapping[str, Any]]) -> float | None:
    """Seconds of a start on the most ranks without its points: the median over starts that finished."""
    points: defaultdict[str, set[tuple[float, float]]] = defaultdict(set)
    for each in measured:
        if each.part and each.setup_s is not None and each.bursts_s is not None:
            points[each.part].add((each.setup_s, each.bursts_s))
    ranks = max(each.cell.ranks for each in measured)
    known = [
        each["seconds"] - sum(map(sum, points[each["part"]]))
        for each in launches
        if each.get("ended") == "finished" and each.get("world") == ranks and each["part"] in points
    ]
    return max(0.0, median(known)) if known else None


def _log_times(samples: Path) -> dict[str, Floats]:
    """By the SHA-256 of a cell's line the logarithms of its bursts' times, as the measuring program has them: means of
    the middle half."""
    found = {}
    for line in gzip.decompress(samples.read_bytes()).splitlines():
        measured = json.loads(line).get("measured")
        if measured is not None:
            ends = np.cumsum(measured["bursts"])[:-1]
            bursts = np.split(np.array(measured["completion_ns"], dtype=np.float64), ends)
            found[hashlib.sha256(line).hexdigest()] = np.log([_midmean(each) for each in bursts])
    return found


def _midmean(burst: Floats) -> float:
    quarter = len(burst) // 4
    return float(np.sort(burst)[quarter : len(burst) - quarter].mean()) if len(burst) else np.nan
