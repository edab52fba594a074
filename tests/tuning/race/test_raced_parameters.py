"""Parameters of algorithms in a race: coarse values first, then around the best."""

import numpy as np

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.run.agenda import Racing
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.tuning.race.race import RacePoint
from timpani.tuning.race.raced_parameters import neighbours, starting


def chain(**parameters: int) -> Algorithm:
    return Algorithm("openmpi", "chain", tuple(sorted(parameters.items())))


SEGMENTS = [chain(segment_bytes=1024 << power) for power in range(10)]


def segments(algorithms: frozenset[Algorithm]) -> list[int]:
    return sorted(dict(each.parameters)["segment_bytes"] >> 10 for each in algorithms)


def test_a_race_begins_with_every_fourth_value_and_the_last() -> None:
    assert segments(starting(SEGMENTS)) == [1, 16, 256, 512]
    plain = [Algorithm("openmpi", "linear"), chain(), chain(segment_bytes=4096)]
    assert starting(plain) == set(plain)


def test_a_grid_of_two_parameters_begins_with_coarse_values_of_both() -> None:
    grid = [chain(fanout=fanout, segment_bytes=size) for fanout in (2, 3, 4, 5, 6) for size in (1024, 2048)]
    assert starting(grid) == {each for each in grid if dict(each.parameters)["fanout"] in (2, 6)}


def test_neighbours_differ_by_one_step_of_one_parameter() -> None:
    grid = [chain(fanout=fanout, segment_bytes=size) for fanout in (2, 4, 8) for size in (1024, 2048, 4096)]
    best = chain(fanout=4, segment_bytes=1024)
    found = neighbours(grid, {best: 0.0, chain(fanout=8, segment_bytes=4096): 0.01})
    assert found == {
        chain(fanout=2, segment_bytes=1024),
        chain(fanout=8, segment_bytes=1024),
        chain(fanout=4, segment_bytes=2048),
    }


def test_nothing_is_taken_up_around_what_loses() -> None:
    assert segments(neighbours(SEGMENTS, {Algorithm("openmpi", "linear"): 0.0, SEGMENTS[4]: 0.05})) == [8, 32]
    assert not neighbours(SEGMENTS, {Algorithm("openmpi", "linear"): 0.0, SEGMENTS[4]: 0.2})
    assert not neighbours(SEGMENTS, {Algorithm("openmpi", "linear"): 0.0})


def test_a_race_climbs_to_the_best_value_and_leaves_most_of_the_others_out() -> None:
    algorithms = [Algorithm("openmpi", DEFAULT), *SEGMENTS]
    cells = [Cell("bcast", each, 2, "core", 1 << 20, "warm") for each in algorithms]
    times = dict(zip(algorithms, [1.5, 2.0, 1.7, 1.5, 1.3, 1.15, 1.0, 1.08, 1.2, 1.5, 2.0], strict=True))
    agenda = Racing(cells, launches=32, regret=0.02)
    random = np.random.default_rng(1)
    measured: list[set[Algorithm]] = []
    for launch in range(1, 34):
        wanted = agenda.wanted(launch)
        if not wanted:
            break
        measured.append({cell.algorithm for cell in wanted})
        for cell in wanted:
            taken = times[cell.algorithm] * random.lognormal(0, 0.003)
            turn = f"{launch}/0"
            agenda.take(LaunchResult(cell, launch, "here", median_us=taken, in_turn=turn, relative=taken))
    standing = agenda.race.standing(RacePoint.of(cells[0]))
    assert segments(frozenset(measured[0] - {algorithms[0]})) == [1, 16, 256, 512]
    assert standing.choice == chain(segment_bytes=32 << 10)
    assert standing.done
    assert len(measured) < 20
    # From 16 over 8 and 32 to 64; nobody had to look at 2, 4 and 128.
    taken_up = set().union(*measured)
    assert segments(frozenset(taken_up - {algorithms[0]})) == [1, 8, 16, 32, 64, 256, 512]
    assert all(algorithms[0] in each for each in measured), "what is new is compared with the default too"
