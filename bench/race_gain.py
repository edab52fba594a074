"""How biased is the gain that a race prints where it chose another algorithm than the default? On synthetic machines.

The true gain is known. It is compared with the gain in the launches, and with the printed one, from which the selection
bias was subtracted.

All algorithms are equal, or one is faster than the default and all others; launches differ by ERROR.
"""

import os
from dataclasses import dataclass

import numpy as np

from bench.race import ACCEPTED, MAX_LAUNCHES
from timpani.race.futility import Futility
from timpani.race.race import LaunchTime, Race
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.point_weights import Point

RACES = int(os.environ.get("TIMPANI_BENCH_RACES", "1000"))
ERROR = 0.03
ALGORITHMS = (2, 6, 10)
FASTER = (0.0, 0.02, 0.1)

_POINT = Point("bcast", 2, "core", 8, "warm")


@dataclass(frozen=True)
class Gain:
    """The printed and the true gain: differences of logarithms, and whether the bounds hold."""

    apparent: float
    printed: float
    held: bool


def run() -> None:
    print(f"{RACES} races; launches differ by {ERROR:.0%}, a regret of {ACCEPTED:.0%} accepted; errors in %")
    print("one is faster by  algorithms  not the default  apparent  printed  root mean square  bounds hold (≥ 95 %)")
    for faster in FASTER:
        for algorithms in ALGORITHMS:
            random = np.random.default_rng(1)
            gains = [gain for _ in range(RACES) if (gain := raced(random, algorithms, faster)) is not None]
            errors = 100 * np.array([(each.apparent, each.printed) for each in gains])
            (apparent, printed), squares = errors.mean(axis=0), np.sqrt((errors**2).mean(axis=0))
            print(
                f"{faster:>16.0%}{algorithms:>12}{len(gains) / RACES:>17.0%}{apparent:>10.2f}{printed:>9.2f}"
                f"{squares[0]:>11.1f}, {squares[1]:.1f}{np.mean([each.held for each in gains]):>22.1%}",
                flush=True,
            )


def raced(random: np.random.Generator, algorithms: int, faster: float) -> Gain | None:
    """A race's result for its choice's gain over the default; None if the default is the choice."""
    names = [DEFAULT, *map(str, range(1, algorithms))]
    competitors = {Algorithm("synthetic", name): 0.0 for name in names}
    competitors[Algorithm("synthetic", "1")] = -np.log1p(faster)
    race = Race(ACCEPTED, {_POINT: list(competitors)})
    futility = Futility(race, MAX_LAUNCHES)
    launches: list[dict[Algorithm, float]] = []
    while len(launches) < MAX_LAUNCHES and not futility.ended([_POINT]):
        remaining = race.standing(_POINT).remaining
        if not remaining:
            break
        errors = random.normal(0, ERROR, algorithms)
        times = {
            each: competitors[each] + error
            for each, error in zip(competitors, errors, strict=True)
            if each in remaining
        }
        launches.append(times)
        number = len(launches)
        race.add_launch(number, [LaunchTime(_POINT, each, "turn", np.exp(time), 1.0) for each, time in times.items()])
        futility.add_launch(number)
    default, choice = next(iter(competitors)), race.standing(_POINT).choice
    if choice is None or choice == default:
        return None
    ratio = race.ratio(_POINT, default, choice)
    assert ratio is not None
    true = competitors[default] - competitors[choice]
    apparent = np.mean([times[default] - times[choice] for times in launches if {default, choice} <= times.keys()])
    return Gain(
        float(apparent) - true, float(np.log(ratio.estimate)) - true, bool(ratio.low <= np.exp(true) <= ratio.high)
    )
