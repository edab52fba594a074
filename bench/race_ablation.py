"""What does each mechanism of a race save? Each is taken out alone, on synthetic machines whose truth is known.

Every variant races the same campaigns with the same errors of launches and rounds. Time counts what the machine would
spend: starts, checks and warm-up, and bursts that take longer for slower algorithms. A mechanism that changes the mean
regret by less than 0.1 percentage points and the time by less than 5 % has no place in the product.
"""

import os
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench import race_grid
from bench.race import ACCEPTED, BURST_S, MACHINES, MAX_LAUNCHES, SETUP_S, USUAL_ROUNDS, Floats, Machine, truth
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.race import futility as race_futility
from timpani.race import grid as grid
from timpani.race.agenda import Racing
from timpani.stats.regret import UNSEEN_MODE_FACTOR
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.point_weights import Point

CAMPAIGNS = int(os.environ.get("TIMPANI_BENCH_RACES", "20"))
ROUND_ERROR = 0.08
ROUNDS_BEFORE_LOSS = 8
"""Rounds after which the measuring program drops losers at the earliest (`native/measure/launch/take_turns.cpp`)."""

ROUNDS_OF_SLOT = 1000
"""What a slot of 100 ms has time for."""


@dataclass(frozen=True)
class World:
    """One campaign's cells with their true log times, and the errors of its launches.

    launch_errors  shape (launches, cells)
    start_s        seconds of one start of the MPI program
    """

    times: dict[Cell, float]
    launch_errors: Floats
    round_error: float
    start_s: float
    seed: tuple[int, ...]


@dataclass
class Outcome:
    """Time of the campaigns of one scenario, and regret of their choices."""

    seconds: float = 0.0
    regrets: list[float] = field(default_factory=list)
    decided: list[bool] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)


@dataclass(frozen=True)
class Variant:
    """A race without one mechanism.

    patches       (object, attribute, value) in place of what the product has
    launches      allowed
    budget        seconds after which no further launch starts
    """

    name: str
    patches: tuple[tuple[object, str, object], ...] = ()
    launches: int = MAX_LAUNCHES
    loses_inside: bool = True
    precise: bool = True
    looks: bool = True
    budget: float | None = None
    at_any_price: bool = False


def _is_never(*_: object, **__: object) -> bool:
    return False


def _do_nothing(*_: object) -> None:
    return


VARIANTS = (
    Variant("all mechanisms"),
    Variant("precision", precise=False),
    Variant("dropping inside a launch", loses_inside=False),
    Variant("futility", at_any_price=True),
    Variant("futility: guard (MAX_ENDING_REGRET)", ((race_futility, "MAX_ENDING_REGRET", np.inf),)),
    Variant("futility: worth (MAX_DECISION_COST, START_IN_POINTS)", ((race_futility, "MAX_DECISION_COST", np.inf),)),
    Variant(
        "futility: guard and worth",
        ((race_futility, "MAX_ENDING_REGRET", np.inf), (race_futility, "MAX_DECISION_COST", np.inf)),
    ),
    Variant("futility: START_IN_POINTS alone", ((race_futility, "START_IN_POINTS", 0.0),)),
    Variant("grid of sizes and rank counts", ((grid, "COARSE_SIZE_RATIO", 1), (grid, "COARSE_RANK_RATIO", 1))),
    Variant("samples between", ((grid, "contradicts_expectation", _is_never),), looks=False),
    Variant("rest sampled in the last launches", ((grid.Grid, "sample_the_rest", _do_nothing),)),
    Variant("limit of launches: 64", launches=64),
    Variant("limit of launches: 16", launches=16),
    Variant("budget of 10 s", budget=10.0),
    Variant("budget of 10 s, any price", budget=10.0, at_any_price=True),
    Variant("budget of 40 s", budget=40.0),
    Variant("budget of 40 s, any price", budget=40.0, at_any_price=True),
)


def machine_world(kind: int, number: int) -> World:
    """Three points of one of the machines of `python -m bench race`."""
    random = np.random.default_rng((1, kind, number))
    machine: Machine = MACHINES[kind]
    true = truth(random, machine)
    cells = {
        Cell("bcast", Algorithm("synthetic", str(i)), 2, "core", 64**point, "warm"): float(time)
        for point, row in enumerate(true)
        for i, time in enumerate(row - true.mean())
    }
    errors = np.hstack([machine.errors(random, 64, machine.algorithms) for _ in true])
    return World(cells, errors, machine.round_error, 0.05, (1, kind, number))


def grid_world(ranks: list[int], start_s: float, number: int) -> World:
    """A broadcast as `python -m bench race_grid` has it."""
    random = np.random.default_rng((2, len(ranks), number))
    cells = {
        Cell("bcast", Algorithm("synthetic", DEFAULT if i == 0 else str(i)), count, "core", size, "warm"): float(time)
        for (count, size), row in race_grid.truth(random, ranks).items()
        for i, time in enumerate(row)
    }
    errors = random.normal(0, race_grid.DEVIATION, (64, len(cells)))
    return World(cells, errors, ROUND_ERROR, start_s, (2, len(ranks), number))


def parameter_world(number: int) -> World:
    """Three pipelined algorithms with ten segment sizes each, two without, and a default, on 16 ranks."""
    random = np.random.default_rng((3, number))
    latency, per_byte = random.lognormal(0, 1), 1e-3 * random.lognormal(0, 1)
    own = random.normal(0, race_grid.OWN, 5)
    cells: dict[Cell, float] = {}
    for size in [2**i for i in range(13, 23)]:

        def cell(name: str, segment: int | None = None, size: int = size) -> Cell:
            parameters = () if segment is None else (("segment_bytes", segment),)
            return Cell("bcast", Algorithm("synthetic", name, parameters), 16, "core", size, "warm")

        plain = race_grid.times(16, size, latency, per_byte)
        cells[cell(DEFAULT)] = log(plain[3])
        cells[cell("binomial")] = log(plain[2]) + own[0]
        cells[cell("ring")] = log(plain[5]) + own[1]
        for i, (name, stages, each) in enumerate((("chain", 14, 1), ("binary", 3, 2), ("split", 6, 1.3))):
            for segment in [2**j for j in range(10, 20)]:
                segments = ceil(size / segment)
                one = latency + min(size, segment) * per_byte
                cells[cell(name, segment)] = log(each * (stages + segments) * one) + own[2 + i]
    errors = random.normal(0, race_grid.DEVIATION, (64, len(cells)))
    return World(cells, errors, ROUND_ERROR, 0.5, (3, number))


def worlds() -> dict[str, list[Callable[[], World]]]:
    """By scenario how to make each of its campaigns; truths aren't kept."""
    few = max(1, CAMPAIGNS // 4)
    found: dict[str, list[Callable[[], World]]] = {
        "machines without states": [partial(machine_world, k, n) for k in range(12) for n in range(CAMPAIGNS)],
        "machines in two states": [partial(machine_world, k, n) for k in range(12, 20) for n in range(CAMPAIGNS)],
        "18 sizes on 8 ranks": [partial(grid_world, [8], 0.5, n) for n in range(CAMPAIGNS)],
    }
    for name, ranks in race_grid.RANKS.items():
        found[name] = [partial(grid_world, ranks, 0.5, n) for n in range(few)]
    found["parameters"] = [partial(parameter_world, n) for n in range(few)]
    return found


def campaign(world: World, variant: Variant, outcome: Outcome) -> None:
    """One race to its end."""
    racing = Racing(world.times, variant.launches, ACCEPTED, at_any_price=variant.at_any_price)
    column = {cell: i for i, cell in enumerate(world.times)}
    raced: set[Point] = set()
    spent = 0.0
    for launch in range(1, variant.launches + 1):
        if variant.budget is not None and spent >= variant.budget:
            break
        random = np.random.default_rng((*world.seed, launch))
        of_rounds = random.normal(0, 1, len(column)), random.chisquare(USUAL_ROUNDS - 1, len(column))
        by_start: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in sorted(racing.wanted(launch)):
            by_start[cell.ranks].append(cell)
        if not by_start:
            break
        looks = racing.sampled_points(launch)
        for cells in by_start.values():
            by_point: defaultdict[Point, list[Cell]] = defaultdict(list)
            for cell in cells:
                by_point[Point.from_cell(cell)].append(cell)
            raced |= by_point.keys() - looks
            if variant.looks or by_point.keys() - looks:
                spent += world.start_s
            for point, competitors in by_point.items():
                usual = USUAL_ROUNDS if variant.precise else ROUNDS_OF_SLOT
                logs = np.array([world.times[c] + world.launch_errors[launch - 1, column[c]] for c in competitors])
                number = _rounds_of_each(logs, usual, variant)
                error = world.round_error / np.sqrt(number)
                at = [column[c] for c in competitors]
                taken = np.exp(logs + error * of_rounds[0][at])
                seen = error * np.sqrt(of_rounds[1][at] / (USUAL_ROUNDS - 1))
                share = np.exp(logs - _typical(world, point))
                bursts_s, setup_s = float(np.sum(number * BURST_S * share)), SETUP_S * len(competitors)
                if variant.looks or point not in looks:
                    spent += bursts_s + setup_s
                for cell, time, own, count in zip(competitors, taken, seen, number, strict=True):
                    racing.take(_result(cell, launch, float(time), float(own), int(count), setup_s, bursts_s))
    racing.wanted(min(variant.launches, launch) + 1)
    outcome.seconds += spent
    _judge(world, racing, raced, variant, outcome)


def _rounds_of_each(logs: Floats, rounds: int, variant: Variant) -> NDArray[np.int64]:
    lost = logs - logs.min() > log(UNSEEN_MODE_FACTOR) + 0.1
    return np.where(variant.loses_inside & lost, min(rounds, ROUNDS_BEFORE_LOSS), rounds)


def _typical(world: World, point: Point) -> float:
    """Mean log time of a point's algorithms, whose burst takes BURST_S."""
    return float(np.mean([time for cell, time in world.times.items() if Point.from_cell(cell) == point]))


def _result(
    cell: Cell, launch: int, time: float, error: float, rounds: int, setup_s: float, bursts_s: float
) -> LaunchResult:
    return LaunchResult(
        cell,
        launch,
        "synthetic",
        median_us=1e3 * time,
        interleaving=f"{launch}/{cell.ranks}-{cell.message_bytes}",
        relative=time,
        relative_error=error,
        rounds=rounds,
        repetitions=rounds,
        setup_s=setup_s,
        bursts_s=bursts_s,
    )


def _judge(world: World, racing: Racing, raced: set[Point], variant: Variant, outcome: Outcome) -> None:
    by_point: defaultdict[Point, dict[Algorithm, float]] = defaultdict(dict)
    for cell, time in world.times.items():
        by_point[Point.from_cell(cell)][cell.algorithm] = time
    for point, times in by_point.items():
        standing = racing.race.standing(point)
        choice = standing.choice
        if choice is None or (not variant.looks and point not in raced):
            near = min(raced, key=lambda each: _distance(point, each))
            choice = racing.race.standing(near).choice
        assert choice is not None
        regret = float(np.expm1(times[choice] - min(times.values())))
        outcome.regrets.append(regret)
        if point in raced:
            outcome.decided.append(standing.done)
            outcome.held.append(regret <= standing.regret)


def _distance(one: Point, other: Point) -> float:
    return abs(log(one.ranks / other.ranks)) + abs(log(one.message_bytes / other.message_bytes))


def run() -> None:
    """All scenarios and variants, or those alone that TIMPANI_BENCH_SCENARIOS and TIMPANI_BENCH_VARIANTS name."""
    only, scenarios = (os.environ.get(f"TIMPANI_BENCH_{each}") for each in ("VARIANTS", "SCENARIOS"))
    print(f"{CAMPAIGNS} campaigns a machine; regret of {ACCEPTED:.0%} accepted")
    for name, makers in worlds().items():
        if scenarios and name not in scenarios.split(";"):
            continue
        print(f"\n{name}: {len(makers)} campaigns")
        print(f"{'without':<40}regret, %  99 of 100, %  decided  bounds hold  time  s a campaign")
        whole = 0.0
        for variant in VARIANTS:
            if only and variant.name not in ("all mechanisms", *only.split(";")):
                continue
            outcome = Outcome()
            with ExitStack() as patched:
                for of, attribute, value in variant.patches:
                    patched.enter_context(patch.object(of, attribute, value))
                for make in makers:
                    campaign(make(), variant, outcome)
            whole = whole or outcome.seconds
            regrets = 100 * np.array(outcome.regrets)
            print(
                f"{variant.name:<40}{regrets.mean():>9.3f}{np.quantile(regrets, 0.99):>14.1f}"
                f"{np.mean(outcome.decided):>9.0%}{np.mean(outcome.held):>13.1%}{outcome.seconds / whole:>6.2f}"
                f"{outcome.seconds / len(makers):>14.2f}",
                flush=True,
            )
