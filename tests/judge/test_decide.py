from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl
import pytest

from tests.campaign_files import results_frame
from tests.judge.campaigns import around, results
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.cell_table import estimate_cells
from timpani.judge.decide import EQUIVALENT, SLOWER, UNDECIDED, compare_with_default, decide
from timpani.judge.jobs import JobScope
from timpani.judge.raced import RacedResults
from timpani.judge.verdict import Verdict, summarize
from timpani.report.document.blocks import Sentence
from timpani.report.verdict.answer import answer_blocks
from timpani.study.cell import Algorithm, Cell


def at_one_size(**medians: list[float]) -> pl.DataFrame:
    return results({name: {1024: times} for name, times in medians.items()})


def only_decision(frame: pl.DataFrame) -> dict[str, Any]:
    decisions = decide(RacedResults.from_rows(frame))
    assert decisions.height == 1
    return decisions.row(0, named=True)


def verdict_of(frame: pl.DataFrame, **about: Any) -> Verdict:
    found = RacedResults.from_rows(frame)
    return summarize(decide(found), estimate_cells(found), **about)


def test_ratio_is_the_defaults_time_over_the_algorithms() -> None:
    compared = compare_with_default(
        RacedResults.from_rows(at_one_size(default=around(2.0), chain=around(1.0), knomial=around(4.0)))
    )
    ratio = dict(compared.select("label", "ratio").iter_rows())
    assert ratio == {"chain": pytest.approx(2.0, rel=0.02), "knomial": pytest.approx(0.5, rel=0.02)}
    assert dict(compared.select("label", "faster").iter_rows()) == {"chain": True, "knomial": False}
    assert compared["significant"].all()
    assert (compared["ratio_low"] < compared["ratio"]).all()


def test_too_few_launches_give_a_ratio_without_bounds_and_no_significance() -> None:
    row = compare_with_default(RacedResults.from_rows(at_one_size(default=around(9.0, 3), chain=around(1.0, 3)))).row(
        0, named=True
    )
    assert row["ratio"] == pytest.approx(9.0, rel=0.02)
    assert (row["ratio_low"], row["ratio_high"], row["significant"]) == (None, None, False)


def test_a_faster_algorithm_is_better_and_says_what_it_gains() -> None:
    decision = only_decision(
        at_one_size(default=around(3.0), chain=around(1.5), ring=around(1.501), linear=around(6.0))
    )
    assert (decision["verdict"], decision["best_label"], decision["tied"]) == ("better", "chain", ["chain", "ring"])
    assert decision["gain_low"] < decision["gain"] < decision["gain_high"]
    assert decision["gain"] == pytest.approx(2.0, rel=0.02)
    assert decision["default_regret"] == pytest.approx(1.0, rel=0.02)
    assert decision["standing"] == SLOWER


def test_a_default_that_nothing_beats_or_equals_is_the_default() -> None:
    decision = only_decision(at_one_size(default=around(1.0), chain=around(2.0), ring=around(3.0)))
    assert (decision["verdict"], decision["best_label"], decision["tied"]) == ("default", "default", ["default"])
    assert (decision["gain"], decision["gain_low"], decision["default_regret"]) == (1.0, 1.0, 0.0)
    assert decision["standing"] == EQUIVALENT


def test_a_difference_within_the_noise_is_a_tie() -> None:
    decision = only_decision(at_one_size(default=around(1.0), chain=around(1.001), ring=around(3.0)))
    assert decision["verdict"] == "tie"
    assert sorted(decision["tied"]) == ["chain", "default"]
    assert decision["standing"] == EQUIVALENT
    assert 0 < decision["default_regret_high"] < 0.05


def test_a_significant_gain_under_5_percent_leaves_the_default_good() -> None:
    frame = at_one_size(default=around(1.036, 8), chain=around(1.0, 8))
    decision = only_decision(frame)
    assert decision["verdict"] == "better"
    assert decision["standing"] == EQUIVALENT
    answer, no_gain = answer_blocks(verdict_of(frame))
    assert isinstance(answer, Sentence)
    assert isinstance(no_gain, Sentence)
    assert answer.text == "Verdict: your library's default is fine at 1 of 1 point."
    assert no_gain.text == "No algorithm is shown to be over 5 % faster."


def test_noise_shows_nothing_and_says_how_many_launches_might() -> None:
    noisy = [1.0, 2.0, 1.1, 1.9, 1.2, 1.8]
    decision = only_decision(at_one_size(default=noisy, chain=noisy[::-1]))
    assert (decision["verdict"], decision["standing"]) == ("tie", UNDECIDED)
    assert decision["default_regret_high"] > 0.05
    assert decision["launches_to_decide"] > 100


@pytest.mark.parametrize(("time", "standing"), [(1.0, EQUIVALENT), (0.97, EQUIVALENT), (0.9, SLOWER)])
def test_simulated_times_are_exact(time: float, standing: str) -> None:
    frame = at_one_size(default=[1.0], chain=[time]).with_columns(simulated=pl.lit(True))
    assert only_decision(frame)["standing"] == standing


def test_the_best_is_one_that_surely_beats_the_default() -> None:
    erratic = [0.5, 0.6, 0.7, 0.8, 3.0, 4.0, 5.0]
    decision = only_decision(at_one_size(default=around(2.0, 7), chain=around(1.0, 7), ring=erratic))
    assert (decision["verdict"], decision["best_label"], decision["tied"]) == ("better", "chain", ["chain", "ring"])


def test_without_a_default_there_is_a_best_but_no_verdict() -> None:
    decision = only_decision(at_one_size(chain=around(1.0), ring=around(2.0)))
    assert (decision["best_label"], decision["tied"]) == ("chain", ["chain"])
    for name in ("default_us", "verdict", "gain", "gain_low", "default_regret", "default_regret_high", "standing"):
        assert decision[name] is None


def test_a_default_alone_is_not_decided() -> None:
    frame = at_one_size(default=around(1.0))
    assert only_decision(frame)["verdict"] is None
    verdict = verdict_of(frame)
    assert (verdict.decided, verdict.equivalent, verdict.largest_regret) == (0, 0, None)
    assert verdict.sentences == ("bcast: nothing to compare the default with",)


def imported(name: str, time: float | None, launch: int = 1) -> LaunchResult:
    cell = Cell("bcast", Algorithm("imported", name), 4, "core", 8, "warm")
    error = None if time is not None else "rank 0 died"
    return LaunchResult(cell, launch, "here", osu_avg_us=time, error=error)


def test_failed_launches_take_no_part() -> None:
    frame = results_frame([imported("default", None), imported("chain", None)])
    assert compare_with_default(RacedResults.from_rows(frame)).is_empty()
    assert decide(RacedResults.from_rows(frame)).is_empty()
    assert verdict_of(frame).decided == 0


@pytest.mark.parametrize("launches", [1, 8])
def test_imported_averages_are_answered_by_value_without_significance(launches: int) -> None:
    times = {"default": 1.5, "chain": 1.0, "ring": 1.01}
    frame = results_frame([imported(name, time, i) for name, time in times.items() for i in range(launches)])
    compared = compare_with_default(RacedResults.from_rows(frame))
    assert compared["ratio"].to_list() == [pytest.approx(1.5), pytest.approx(1.5 / 1.01)]
    for column in ("ratio_low", "ratio_high", "p_value"):
        assert compared[column].is_null().all()
    assert not compared["significant"].any()
    decision = only_decision(frame)
    assert (decision["verdict"], decision["best_label"], decision["tied"]) == ("by_value", "chain", ["chain"])
    assert (decision["standing"], decision["default_regret"]) == (None, pytest.approx(0.5))
    verdict = verdict_of(frame)
    assert (verdict.decided, verdict.by_value, verdict.within_by_value, verdict.undecided) == (1, 1, 0, 0)
    assert verdict.largest_regret is not None
    assert verdict.largest_regret.gain == pytest.approx(1.5)
    assert verdict.sentences == (
        "bcast, 1 point by value: the default is within 5 % of the best at 0; lowest times: chain (1)",
    )


def test_verdict_names_the_worst_loss_and_the_share_of_good_defaults() -> None:
    frame = results(
        {
            "default": {1: around(1.0), 8: around(1.2), 64: around(9.0), 512: around(1.0)},
            "chain": {1: around(2.0), 8: around(1.0), 64: around(3.0), 512: around(1.001)},
        }
    )
    verdict = verdict_of(frame)
    assert (verdict.decided, verdict.equivalent, verdict.slower, verdict.undecided) == (4, 2, 2, 0)
    assert verdict.forecast is None
    assert verdict.largest_regret is not None
    assert (verdict.largest_regret.message_bytes, verdict.largest_regret.best_label) == (64, "chain")
    assert verdict.largest_regret.gain == pytest.approx(3.0, rel=0.02)
    assert verdict.sentences == (
        "bcast, 4 points: the default is within 5 % of the best at 2; "
        "slower at 2, where the best is most often chain (2)",
    )
    assert verdict.warnings == ()


MORE = "measure anew with --launches {} or more"


@pytest.mark.parametrize(
    ("competitors", "asked", "advice"),
    [
        (9, 5, MORE.format(6)),
        (30, 5, MORE.format(7)),
        (9, 8, "repeat the command that measured this"),
        (9, None, ""),
    ],
)
def test_the_verdict_names_the_launches_to_measure_with(competitors: int, asked: int | None, advice: str) -> None:
    curves = {name: {8: around(1.0, 5)} for name in ("default", *(f"a{i}" for i in range(competitors)))}
    frame = results(curves)
    verdict = verdict_of(frame, launches_asked=asked)
    assert verdict.warnings[0].endswith(advice)
    assert (verdict.too_few_launches, verdict.launches_needed) == (1, 6 if competitors == 9 else 7)
    day = datetime(2026, 11, 28)
    in_batch = verdict_of(frame, launches_asked=asked, scope=JobScope(1, (1, 1), True, ("n1",), day, day))
    assert in_batch.launches_advice == ("measure in several jobs (jobs=6)" if "anew" in advice else advice)


def test_launches_that_failed_are_not_asked_for_again() -> None:
    frame = at_one_size(default=around(1.0, 8), chain=around(2.0, 4))
    died = frame.filter(pl.col("algorithm") == "chain").with_columns(
        launch=pl.col("launch") + 4, error=pl.lit("died"), median_us=None, osu_avg_us=None
    )
    frame = pl.concat([frame, died], how="vertical_relaxed")
    few, failed = verdict_of(frame, launches_asked=8).warnings
    assert few == "1 of 2 cells has fewer than the 6 launches that a comparison takes: the others failed"
    assert failed.startswith("1 of 2 cells failed in at least one launch")


@pytest.mark.parametrize(
    ("flag", "words"),
    [("skewed", "did not start together"), ("oversubscribed", "more ranks than cores"), ("bimodal", "bimodal times")],
)
def test_verdict_warns_of_marked_cells(flag: str, words: str) -> None:
    frame = at_one_size(default=around(1.0), chain=around(2.0)).with_columns(pl.lit(True).alias(flag))
    (warning,) = verdict_of(frame).warnings
    assert warning.startswith("2 of 2 cells")
    assert words in warning


def test_verdict_warns_of_cells_that_did_not_converge_or_failed() -> None:
    frame = at_one_size(default=around(1.0), chain=around(2.0))
    frame = frame.with_columns(converged=pl.col("algorithm") != "chain")
    died = frame.filter(pl.col("algorithm") == "default").head(1).with_columns(error=pl.lit("died"))
    warnings = verdict_of(pl.concat([frame, died])).warnings
    assert [warning.split(":")[0] for warning in warnings] == [
        "1 of 2 cells did not converge",
        "1 of 2 cells failed in at least one launch",
    ]


def test_messages_between_ranks_have_nothing_to_decide() -> None:
    pairs = {"default:first=0,second=1": {8: around(1.0)}, "default:first=0,second=2": {8: around(2.0)}}
    frame = results(pairs, collective="latency")
    verdict = verdict_of(frame)
    assert decide(RacedResults.from_rows(frame)).is_empty()
    assert (verdict.sentences, verdict.has_collectives, verdict.decided) == ((), False, 0)


def test_transposes_race_without_a_default_and_against_no_baseline() -> None:
    ways = {
        "plain_message": {64: around(1.0), 128: around(1.0)},
        "local_memcpy": {64: around(0.5), 128: around(0.5)},
        "packed": {64: around(2.0), 128: around(2.0)},
        "nested_datatype": {64: around(8.0), 128: around(2.0)},
    }
    frame = results(ways, collective="transpose", ranks=2)
    decisions = decide(RacedResults.from_rows(frame)).sort("message_bytes")
    assert decisions["verdict"].to_list() == [None, None]
    assert decisions["tied"].to_list()[0] == ["packed"]
    assert sorted(decisions["tied"].to_list()[1]) == ["nested_datatype", "packed"]
    assert verdict_of(frame).sentences == (
        "transpose, 2 points: one way fastest at 1, most often packed (1); tied at 1",
    )


def test_the_verdict_forecasts_launches_for_undecided_points() -> None:
    noisy = [1.0, 2.0, 1.1, 1.9, 1.2, 1.8]
    frame = results({"default": {8: noisy, 16: around(1.0)}, "chain": {8: noisy[::-1], 16: around(1.0)}})
    verdict = verdict_of(frame, launch_seconds=2.0)
    assert (verdict.equivalent, verdict.slower, verdict.undecided) == (1, 0, 1)
    assert verdict.forecast is not None
    assert (verdict.forecast.of, verdict.forecast.half) == (1, verdict.forecast.most)
    assert verdict.forecast.seconds_for(verdict.forecast.half) == verdict.forecast.half * 2.0
    low, high = verdict.forecast.between(verdict.forecast.half)
    assert 6 < low < verdict.forecast.half < high
    assert verdict.sentences == ("bcast, 2 points: the default is within 5 % of the best at 1; 1 of 2 undecided",)


def decisions(curves: Mapping[str, Mapping[int, Sequence[float]]], simulated: bool = True) -> list[dict[str, object]]:
    return decide(RacedResults.from_rows(results(curves, simulated=simulated))).to_dicts()


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
