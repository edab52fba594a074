"""The best of a point is a set: names decide nothing where times are equal."""

from collections.abc import Mapping, Sequence

import polars as pl
import pytest

from tests.tuning.campaigns import around, results
from timpani.tuning.decide.cell_table import estimate_cells
from timpani.tuning.decide.decide import decide
from timpani.tuning.decide.points import most_frequent
from timpani.tuning.decide.raced import RacedResults
from timpani.tuning.decide.verdict import Verdict, summarize


def decisions(curves: Mapping[str, Mapping[int, Sequence[float]]], simulated: bool = True) -> list[dict[str, object]]:
    return decide(RacedResults.from_rows(results(curves, simulated=simulated))).to_dicts()


def summary(curves: Mapping[str, Mapping[int, Sequence[float]]]) -> Verdict:
    raced = RacedResults.from_rows(results(curves, simulated=True))
    return summarize(decide(raced), estimate_cells(raced))


@pytest.mark.parametrize("names", [("aaa", "zzz"), ("zzz", "aaa")])
def test_the_default_is_the_best_of_those_that_share_its_time_whatever_they_are_called(names: tuple[str, str]) -> None:
    one, other = names
    [row] = decisions({one: {8: [1.0]}, "default": {8: [1.0]}, other: {8: [2.0]}})
    assert (row["best_label"], row["lowest"]) == ("default", ["default", one])
    [row] = decisions({one: {8: [0.9]}, "default": {8: [1.0]}, other: {8: [2.0]}})
    assert (row["best_label"], row["lowest"]) == (one, [one])


def test_readings_of_the_simulated_clock_are_equal_within_its_resolution_and_measured_times_are_not() -> None:
    close = {"chain": {8: [1.0]}, "default": {8: [9.0]}, "linear": {8: [1.001]}, "ring": {8: [1.1]}}
    assert decisions(close)[0]["lowest"] == ["chain", "linear"]
    assert decisions(close, simulated=False)[0]["lowest"] == ["chain"]


def test_significantly_faster_algorithms_come_before_lower_medians() -> None:
    [row] = decisions({"chain": {8: [0.98]}, "default": {8: [1.0]}, "ring": {8: [0.5]}, "tree": {8: [0.5]}})
    assert (row["verdict"], row["lowest"]) == ("better", ["ring", "tree"])
    [row] = decisions({"chain": {8: around(1.0)}, "default": {8: around(1.0)}}, simulated=False)
    assert (row["verdict"], row["lowest"]) == ("tie", ["default", "chain"])


def test_a_verdict_names_all_that_share_a_lowest_time() -> None:
    both = summary({"chain": {8: [1.0]}, "default": {8: [2.0]}, "ring": {8: [1.0]}})
    assert both.largest_regret is not None
    assert both.largest_regret.schedule == "chain or ring"
    assert both.sentences == (
        "bcast, 1 point: the default is slower at 1, where the best is most often chain and ring (1 each)",
    )
    alone = summary({"chain": {8: [1.0]}, "default": {8: [2.0]}, "ring": {8: [1.1]}})
    assert alone.largest_regret is not None
    assert alone.largest_regret.schedule == "chain"
    assert alone.sentences == ("bcast, 1 point: the default is slower at 1, where the best is most often chain (1)",)


def test_the_names_that_occur_most_often_are_given_together() -> None:
    assert most_frequent([["a", "b"], ["b"]]) == "b (2)"
    assert most_frequent([["a", "b"], ["c"]]) == "a, b and c (1 each)"
    assert most_frequent([["a", "b", "c", "d", "e"]]) == "a, b, c and 2 more (1 each)"


def test_the_lowest_of_averages_are_tied_by_value() -> None:
    frame = results({"default": {8: [2.0]}, "chain": {8: [1.5]}, "ring": {8: [1.5]}})
    averages = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("median_us"))
    [row] = decide(RacedResults.from_rows(averages)).to_dicts()
    assert (row["verdict"], row["tied"]) == ("by_value", ["chain", "ring"])
