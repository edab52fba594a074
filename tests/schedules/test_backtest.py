"""Backtests on measurements from known costs, and hedged choices."""

import pytest

from tests.installed import FOUND, needs_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import CostLine, Costs, NotSimulated, Simulator
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.predict.backtest import (
    _BINE,
    _SCHEDULES,
    ANCHORED,
    Measurement,
    backtest,
    backtest_document,
    call_named,
    schedule_named,
    total_bytes,
)
from timpani.schedules.predict.predicted_rules import hedged_choice, margin
from timpani.study.cell import Algorithm

COSTS = Costs(messages=((), (), (CostLine(0, 2.0, 0.001, 1.0),)))


def measured(simulator: Simulator) -> list[Measurement]:
    """Broadcasts as a library's code takes them: 1.4 times as long as the schedule, and the default 1.5 times the
    binomial tree."""
    found = []
    for ranks in (16, 32, 64):
        for size in (64, 1 << 10, 1 << 14, 1 << 18):
            calls = [
                call_named("bcast", Algorithm("openmpi", name), ranks, size, 1)
                for name in ("binomial", "basic_linear", "scatter_allgather")
            ]
            known = [each for each in calls if each is not None]
            times = simulator.times(known, COSTS)
            for call, time in zip(known, times, strict=True):
                assert not isinstance(time, NotSimulated)
                name = call.algorithm.name
                found.append(Measurement(("bcast",), name, False, ranks, size, call, 1.4 * time))
                if name == "binomial":
                    found.append(Measurement(("bcast",), "default", True, ranks, size, None, 2.1 * time))
    return found


@needs_mpi
def test_an_anchored_time_holds_where_code_is_slower_than_its_schedule() -> None:
    found = backtest(measured(Simulator(build_without_mpi(FOUND[0]))), Simulator(build_without_mpi(FOUND[0])), print)
    errors = found.filter(method=ANCHORED)["error"].drop_nulls()
    assert len(errors) == 3 * 3 * 4  # pairs of scales, algorithms with a schedule, sizes
    assert max(errors) < 0.02
    regrets = dict(found.group_by("method").agg(found["regret"].mean()).iter_rows())
    assert regrets.keys() == {"default", "best", "fits", "model", "anchored"}
    document = backtest_document(found)
    assert document["basis"].text == "3 pairs of a known and a larger, hidden scale, in 1 series"


@needs_mpi
def test_every_name_means_a_schedule_that_exists() -> None:
    own = own_catalogue(FOUND[0])
    named = [(collective, name) for collective, names in _SCHEDULES.items() for name in names]
    named += [(collective, name) for collective, names in _BINE.items() for name, _ in names]
    for collective, name in named:
        assert own.info(collective, Algorithm(own.provider, name)), (collective, name)


@pytest.mark.parametrize(
    ("collective", "name", "schedule"),
    [
        ("allreduce", "default_ompi", None),
        ("allreduce", "rabenseifner_ompi", "rabenseifner"),
        ("allreduce", "BINE-L-UTOFU-0-1", "bine"),
        ("allreduce", "BINE-L-UTOFU-0-6", None),
        ("allreduce", "bine_bdw_remap_segmented_over", None),
        ("allgather", "bine_block_by_block_over_any_even", "bine_blocks"),
        ("bcast", "default-binary-tree", "binary"),
        ("scatter", "bruck", None),
    ],
)
def test_names_of_others(collective: str, name: str, schedule: str | None) -> None:
    found = schedule_named(collective, name)
    assert (found and found.name) == schedule


def test_totals_meet_where_no_block_does() -> None:
    blocks = {ranks: (1 << 20) // ranks // 4 * 4 for ranks in (200, 512)}
    assert blocks[200] != blocks[512]
    assert total_bytes(200 * blocks[200]) == total_bytes(512 * blocks[512]) == 1 << 20


def test_the_default_stays_unless_a_gain_exceeds_the_margin() -> None:
    assert margin(1) == 0
    assert margin(2) < margin(8) < margin(64)
    for gain, factor, chosen in ((1.05, 2, "rival"), (1.05, 8, "default"), (1.5, 8, "rival"), (1.5, 64, "default")):
        times = {8: {"default": gain, "rival": 1.0}}
        assert hedged_choice(times, 8, ("default", "rival"), "default", factor) == chosen
    assert hedged_choice({8: {"rival": 1.0, "other": 2.0}}, 8, ("rival", "other"), None, 64) == "rival"


def test_a_single_size_does_not_win_against_its_neighbors() -> None:
    usual = {"default": 1.0, "rival": 2.0}
    times = {8: usual, 16: {"default": 1.0, "rival": 0.8}, 32: usual}
    assert hedged_choice(times, 16, usual, "default", 2) == "default"
