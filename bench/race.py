"""Does a race keep its promise, and what does it save? On synthetic machines, whose truth is known.

A campaign has points along sizes. The algorithms' true times cross, since some have less latency and others more
bandwidth. A launch adds a separate error to each algorithm's log time, and each round adds a further one. The true
value is the mean log time. Printed for each kind of machine:

- at how many points the stated bound holds,
- the mean regret of the choices,
- how many points are decided within the allowed launches,
- the share of ten launches of everything that it took: results, time inside cells, and time with starts.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from timpani.race.futility import Futility
from timpani.race.race import LaunchTime, Race
from timpani.study.cell import Algorithm
from timpani.study.point_weights import Point

CAMPAIGNS = int(os.environ.get("TIMPANI_BENCH_RACES", "1000"))
POINTS = 3
ACCEPTED = 0.02
MAX_LAUNCHES = 32
USUAL_LAUNCHES = 10

USUAL_ROUNDS = 25
"""Of a launch: the median over points of a campaign on a busy machine, by `precision`."""

LEAD = 0.04
"""By how much an algorithm in two states is better or worse on average than the best of the others: twice ACCEPTED."""

START_S, SETUP_S, BURST_S = 0.05, 1e-3, 1e-4
"""What a start takes for so few points, an algorithm's check and warm-up, and its burst, in the order of magnitude that
they have on two ranks, where some thirty points share a start of half a second."""

Floats = NDArray[np.float64]
Errors = Callable[[np.random.Generator, int, int], Floats]
"""From the numbers of launches and algorithms, shape (launches, algorithms)."""


@dataclass(frozen=True)
class Machine:
    """A kind of machine.

    errors       of launches, 0 on average, or the same for all algorithms
    round_error  standard deviation of a round's further errors
    close        whether all true times lie within 1 %
    lead         by how much the first algorithm is faster than the best of the others, in logarithms; None: as drawn
    """

    name: str
    errors: Errors
    algorithms: int = 8
    close: bool = False
    lead: float | None = None
    round_error: float = 0.08


def _two_states(share: float, factor: float) -> Errors:
    def errors(random: np.random.Generator, launches: int, algorithms: int) -> Floats:
        found = random.normal(0, 0.02, (launches, algorithms))
        found[:, 0] += np.log(factor) * ((random.random(launches) < share) - share)
        return found

    return errors


def _in_two_states(share: float, factor: float, words: str) -> tuple[Machine, Machine]:
    """Few launches flatter an algorithm whose slow state they don't show, which costs nothing where it truly wins."""
    errors, name = _two_states(share, factor), f"two states, {words}, {factor:g} ×"
    return Machine(f"{name}, best", errors, lead=LEAD), Machine(f"{name}, not best", errors, lead=-LEAD)


def _drifting(deviation: float, kept: float) -> Errors:
    """Each algorithm's own error keeps this share from launch to launch, as of a machine that warms up and cools down
    through a campaign."""

    def errors(random: np.random.Generator, launches: int, algorithms: int) -> Floats:
        found = random.normal(0, deviation, (launches, algorithms))
        found[1:] *= np.sqrt(1 - kept**2)
        for launch in range(1, launches):
            found[launch] += kept * found[launch - 1]
        return found

    return errors


def _normal(deviation: float) -> Errors:
    return lambda random, *shape: random.normal(0, deviation, shape)


MACHINES = (
    Machine("error 1 %", _normal(0.01)),
    Machine("error 3 %", _normal(0.03)),
    Machine("error 3 %, 40 algorithms", _normal(0.03), algorithms=40),
    Machine(
        "error 1 to 10 %, by algorithm",
        lambda random, *shape: random.normal(0, np.geomspace(0.01, 0.1, shape[1]), shape),
    ),
    Machine("error 1 %, of rounds 30 %", _normal(0.01), round_error=0.3),
    Machine("error 3 %, of rounds 1 %", _normal(0.03), round_error=0.01),
    Machine("tails (t, 3 degrees)", lambda random, *shape: 0.02 * random.standard_t(3, shape)),
    Machine(
        "disturbed, 1 in 10",
        lambda random, *shape: random.normal(0, 0.02, shape) + 0.5 * (random.random(shape) < 0.1),
    ),
    Machine("drifting, 2 %, half of it kept", _drifting(0.02, 0.5)),
    Machine("drifting, 2 %, nine tenths kept", _drifting(0.02, 0.9)),
    Machine("all within 1 %", _normal(0.01), close=True),
    Machine("all within 1 %, error 3 %", _normal(0.03), close=True),
    *_in_two_states(0.5, 1.5, "1 in 2"),
    *_in_two_states(0.33, 1.3, "1 in 3"),
    *_in_two_states(0.2, 1.5, "1 in 5"),
    *_in_two_states(0.1, 2.0, "1 in 10"),
)


def truth(random: np.random.Generator, machine: Machine) -> Floats:
    """True log times, shape (points, algorithms)."""
    if machine.close:
        times = random.uniform(0, 0.01, (POINTS, machine.algorithms))
    else:
        latency, per_byte = random.lognormal(0, 0.5, (2, machine.algorithms))
        times = np.log(latency + np.geomspace(0.01, 100, POINTS)[:, None] * per_byte)
    if machine.lead is not None:
        times[:, 0] = times[:, 1:].min(axis=1) - machine.lead
    return times


@dataclass
class Outcome:
    """Of all points of a machine's campaigns; times in seconds."""

    points: int = 0
    kept: int = 0
    decided: int = 0
    regret: float = 0.0
    measured: int = 0
    inside: float = 0.0
    starting: float = 0.0

    def add(self, race: Race, times: Floats) -> None:
        """One campaign that is over."""
        for point, true in zip(race.points(), times, strict=True):
            standing = race.standing(point)
            assert standing.choice is not None
            regret = float(np.expm1(true[int(standing.choice.name)] - true.min()))
            self.points += 1
            self.kept += regret <= standing.regret
            self.decided += standing.done
            self.regret += regret


def run() -> None:
    print(
        f"{CAMPAIGNS} campaigns of {POINTS} points; regret of {ACCEPTED:.0%} accepted, {MAX_LAUNCHES} launches at most"
    )
    print(f"{'machine':<46}bound holds (≥ 95 %)  mean regret  decided  results  inside cells  with starts")
    for machine in MACHINES:
        usual = CAMPAIGNS * POINTS * machine.algorithms * USUAL_LAUNCHES
        usual_inside = usual * (SETUP_S + USUAL_ROUNDS * BURST_S)
        random = np.random.default_rng(1)
        outcome = Outcome()
        for _ in range(CAMPAIGNS):
            campaign(random, machine, outcome)
        print(
            f"{machine.name:<46}"
            f"{outcome.kept / outcome.points:>18.1%}{outcome.regret / outcome.points:>15.2%}"
            f"{outcome.decided / outcome.points:>9.0%}{outcome.measured / usual:>9.0%}"
            f"{outcome.inside / usual_inside:>14.0%}"
            f"{(outcome.inside + outcome.starting) / (usual_inside + CAMPAIGNS * USUAL_LAUNCHES * START_S):>13.0%}",
            flush=True,
        )


def campaign(random: np.random.Generator, machine: Machine, outcome: Outcome) -> None:
    """One race on `machine`, to its end."""
    times = truth(random, machine)
    points = [Point("bcast", 2, "core", size, "warm") for size in range(POINTS)]
    algorithms = [Algorithm("synthetic", str(number)) for number in range(machine.algorithms)]
    race = Race(ACCEPTED, dict.fromkeys(points, algorithms))
    futility = Futility(race, MAX_LAUNCHES)
    errors = {point: machine.errors(random, MAX_LAUNCHES, machine.algorithms) for point in points}
    for launch in range(1, MAX_LAUNCHES + 1):
        ended = futility.ended(points)
        wanted = {
            point: remaining for point in points if point not in ended and (remaining := race.standing(point).remaining)
        }
        if not wanted:
            break
        rows: list[LaunchTime] = []
        for point, remaining in wanted.items():
            deviation = machine.round_error / np.sqrt(USUAL_ROUNDS)
            of_launch = errors[point][launch - 1] + random.normal(0, deviation, machine.algorithms)
            observed = np.exp(times[points.index(point)] + of_launch)
            for each in sorted(remaining):
                rows.append(LaunchTime(point, each, str(launch), float(observed[int(each.name)]), 1.0))
                outcome.inside += SETUP_S + USUAL_ROUNDS * BURST_S
        outcome.starting += START_S
        outcome.measured += len(rows)
        race.add_launch(launch, rows)
        futility.add_launch(launch)
    outcome.add(race, times)
