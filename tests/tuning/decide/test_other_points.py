"""What a setting for all calls costs at the points where it is not the best."""

import pytest

from tests.tuning.campaigns import around, results
from timpani.tuning.decide.cell_table import estimate_cells
from timpani.tuning.decide.decide import compare_with_default, decide
from timpani.tuning.decide.other_points import at_other_points
from timpani.tuning.decide.raced import RacedResults
from timpani.tuning.decide.verdict import summarize

FRAME = results(
    {
        "default": {8: around(1.0), 64: around(1.0), 1024: around(2.0), 4096: around(4.0)},
        "chain": {8: around(3.0), 64: around(2.0), 1024: around(1.0), 4096: around(4.0)},
        "linear": {8: around(9.0), 64: around(9.0), 1024: around(9.0), 4096: around(9.0)},
    }
)
COMPARED = compare_with_default(RacedResults.from_rows(FRAME))
[WON] = [row for row in decide(RacedResults.from_rows(FRAME)).iter_rows(named=True) if row["verdict"] == "better"]


def test_points_at_which_it_is_shown_to_be_slower_are_counted_with_the_largest_factor() -> None:
    found = at_other_points(COMPARED, WON, "chain")
    assert found is not None
    assert (found.points, found.slower) == (3, 2)  # 4 KiB is a tie
    assert found.factor == pytest.approx(3, rel=0.02)


def test_an_algorithm_that_is_nowhere_significantly_slower_loses_nothing() -> None:
    ties = results({"default": {8: around(1.0), 64: around(2.0)}, "chain": {8: around(1.0), 64: around(1.0)}})
    [won] = [row for row in decide(RacedResults.from_rows(ties)).iter_rows(named=True) if row["verdict"] == "better"]
    assert at_other_points(compare_with_default(RacedResults.from_rows(ties)), won, "chain") is None


def test_the_verdict_has_the_loss_at_other_points_with_the_setting() -> None:
    settings = {"bcast": {"chain": "mpirun --mca a 2"}}
    verdict = summarize(
        decide(RacedResults.from_rows(FRAME)),
        estimate_cells(RacedResults.from_rows(FRAME)),
        settings=settings,
        compared=COMPARED,
    )
    assert verdict.largest_regret is not None
    assert verdict.largest_regret.at_other_points == at_other_points(COMPARED, WON, "chain")


def test_a_verdict_is_simulated_only_where_all_cells_are() -> None:
    for simulated in (True, False):
        raced = RacedResults.from_rows(results({"default": {8: [2.0]}, "chain": {8: [1.0]}}, simulated=simulated))
        assert summarize(decide(raced), estimate_cells(raced)).simulated is simulated
