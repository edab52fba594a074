"""Races on real libraries: what a launch measures follows from the results of those before, and from nothing else."""

import re
import signal
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.budget import START_S, run_on_counted_starts
from tests.campaign.live import Live
from tests.cli.typed import typed
from tests.installed import FOUND, needs_mpi, needs_two_cores
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.run import run
from timpani.campaign.run.cell_result import result_of
from timpani.campaign.run.session import Session
from timpani.judge.raced import race_standings, raced_results
from timpani.race.agenda import Racing
from timpani.stats.regret import UNSEEN_MODE_FACTOR
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.compose import compose
from timpani.study.schema import ALLOWED, REGRET
from timpani.study.study import Study

pytestmark = [needs_mpi, needs_two_cores]

ASKED = {
    "algorithms": "default,timpani/chain:segment_bytes=2,timpani/chain:segment_bytes=4",
    "sizes": "8,16,64,256K",
    "regret": "60%",
    "launches": 8,
}


def with_planted_times(*given: Any) -> LaunchResult:
    """The result of a launch, but with times by which chains are slower than the default at every size."""
    result = result_of(*given)
    segment_bytes = dict(result.cell.algorithm.parameters).get("segment_bytes")
    time = 2.0 + (result.cell.message_bytes / segment_bytes if segment_bytes else 0.0) + 0.001 * (result.launch % 3)
    return replace(result, median_us=time, relative=time)


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Broadcasts, of which some take many times as long as others, raced over at most eight launches."""
    folder = tmp_path_factory.mktemp("race") / "c"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "result_of", with_planted_times)
        run_on_counted_starts(compose(["bcast"], ASKED), folder)
    return load(folder)


def measured(campaign: Campaign) -> dict[int, set[Cell]]:
    """The cells of each launch."""
    found: defaultdict[int, set[Cell]] = defaultdict(set)
    for result in results_of(campaign):
        found[result.launch].add(result.cell)
    return dict(found)


def results_of(campaign: Campaign) -> list[LaunchResult]:
    rows = campaign.results.drop("state", REGRET, ALLOWED).iter_rows(named=True)
    return [LaunchResult.from_line(row) for row in rows]


def test_a_race_measures_less_than_everything_in_each_launch(raced: Campaign) -> None:
    launches = measured(raced)
    assert len(launches) <= 8
    assert sum(map(len, launches.values())) < len(launches) * len(set.union(*launches.values()))
    assert {cell.message_bytes for cell in launches[1]} == {8, 64, 256 << 10}


def test_a_race_for_a_program_comes_back_to_its_slowest_point_before_it_reaches_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_LAUNCH_SHARE", 0.0)  # each launch has time for one point
    shares = {8: 0.2, 64: 0.6}
    weights = [
        {"collective": "bcast", "ranks": 2, "placement": "core", "message_bytes": size, "share": share}
        for size, share in shares.items()
    ]
    values = {
        "collectives": {"bcast": ["default", "timpani/chain:segment_bytes=2"]},
        "ranks": [2],
        "sizes": list(shares),
        "regret": "1%",
        "launches": 64,
        "weights": weights,
        "slot": "2ms",
    }
    for starts in (3, 5):
        study = Study.check({**values, "budget": (starts - 0.5) * START_S}, "test")
        run_on_counted_starts(study, tmp_path / "c")
    launches = measured(load(tmp_path / "c"))
    sizes = [{cell.message_bytes for cell in launches[number]} for number in sorted(launches)]
    assert sizes[:3] == [{64}, {64}, {8, 64}]  # the second command continues the launch in which the first one ended
    assert sizes[3:]
    assert all(len(each) == 1 for each in sizes[3:])


def test_a_race_that_was_stopped_says_what_is_known_to_be_missing_and_how_many_launches_may_follow(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "c"
    asked = ("--algorithms", "default,linear", "--sizes", "8,64M", "--regret", "1%", "--launches", "12")
    with Live(folder, "bcast", *asked) as live:
        live.until(lambda: (folder / "results.jsonl").exists() and live.ranks())
        live.process.send_signal(signal.SIGINT)
        done = live.end()
    found = re.search(
        r"^stopped: (\d) results? of the launch under way still missing, and up to (\d+) further launches; ",
        done.stderr,
        re.MULTILINE,
    )
    assert found, done.stderr
    recorded = load(folder).results
    under_way = 12 - int(found[2])
    assert recorded["launch"].max() in (under_way, under_way - 1)
    assert 1 <= int(found[1]) <= 4
    assert recorded.filter(launch=under_way).height + int(found[1]) <= 4


def test_each_launchs_cells_follow_from_earlier_results(raced: Campaign) -> None:
    plan = Session.prepare(compose(["bcast"], ASKED), str(FOUND[0].mpirun), oversubscribe=False).plan
    again = Racing([each.cell for each in plan.cells], plan.study.launches, 0.6)
    for result in results_of(raced):  # as a continued run has them: all at once
        again.take(result)
    launches = measured(raced)
    assert {number: set(again.wanted(number)) for number in launches} == launches


def test_a_launch_of_a_race_lets_losers_by_factors_go(raced: Campaign) -> None:
    # What comes of it is shown where times are far apart: tests/mpi/test_take_turns.py.
    for launch in measured(raced):
        plan = (raced.folder / "launches" / f"{launch:04d}-1" / "plan.txt").read_text().splitlines()
        assert f"lose_at {UNSEEN_MODE_FACTOR}" in plan


def test_an_algorithm_that_always_dies_keeps_no_point_open_and_leaves_none_alone() -> None:
    # It succeeds twice, of which nothing bounds it; at 64 B it is the only one besides the default.
    cells = [
        Cell("bcast", Algorithm("openmpi", name), 2, "core", size, "warm")
        for size, names in ((8, (DEFAULT, "linear", "ring")), (64, (DEFAULT, "ring")))
        for name in names
    ]
    agenda, random, launches = Racing(cells, 64, 0.02), np.random.default_rng(1), list[frozenset[Cell]]()
    while wanted := agenda.wanted(len(launches) + 1):
        launches.append(wanted)
        for cell in wanted:
            dies = cell.algorithm.name == "ring" and len(launches) > 2
            turn, relative = f"{len(launches)}/{cell.message_bytes}", random.lognormal(0, 0.002)
            agenda.take(
                LaunchResult(cell, len(launches), "here", error="ended with status 3")
                if dies
                else LaunchResult(cell, len(launches), "here", median_us=1.0, interleaving=turn, relative=relative)
            )
    assert [sum(cell.message_bytes == 8 for cell in wanted) for wanted in launches] == [3, 3, 3, 3, 2, 2]
    assert [sum(cell.message_bytes == 64 for cell in wanted) for wanted in launches] == [2, 2, 2, 2, 0, 0]


def test_each_point_has_a_bound(raced: Campaign) -> None:
    standings = race_standings(raced_results(raced))
    assert standings["race_complete"].sum() == 3
    for row in standings.filter("race_complete").to_dicts():
        assert row["regret_high"] <= 0.6 or row["race_ended"] or not row["race_over"], row
    assert not standings["race_launches"].is_null().any()
    assert "Race in this run: the choice takes at most 60 % longer than the best (95 % bound) at" in (
        typed("verdict", raced.folder).stdout
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bcast", "--regret", "2x"), "'2x'"),
        (("bcast", "--regret", "0"), "0"),
        (("bcast", "--regret", "2%", "--launches", "4"), "takes at least 6 launches, not 4; --launches 6 or more"),
        (("bcast", "--regret", "2%", "--method", "osu"), "interleaved"),
        (("latency", "--regret", "2%"), "latency is no collective"),
        (("transpose", "--regret", "2%"), "transpose is no collective"),
    ],
)
def test_an_impossible_race_is_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = typed("run", *arguments, "-o", tmp_path / "c")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "c").exists()
