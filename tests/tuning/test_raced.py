"""What is read from the results of a race."""

import numpy as np
import polars as pl
import pytest

from timpani.campaign.load import results_frame
from timpani.campaign.record import LaunchResult
from timpani.campaign.table import estimate_cells
from timpani.report.text import race_lines
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.schema import ALLOWED, REGRET
from timpani.tuning.decide import SLOWER, WITHIN, compare_with_default, decide
from timpani.tuning.race_verdict import race_verdict
from timpani.tuning.raced import race_standings, raced_points

TIMES = {DEFAULT: 2.0, "linear": 1.0, "ring": 4.0}


def raced(looked_at: bool = True, dropped: bool = True) -> pl.DataFrame:
    """Eight launches of a race at 8 B, in which ring was dropped after three, and three that looked at 64 B."""
    random = np.random.default_rng(1)
    rows = [
        (8, launch, name) for launch in range(1, 9) for name in TIMES if name != "ring" or launch <= 3 or not dropped
    ]
    if looked_at:
        rows += [(64, launch, name) for launch in range(6, 9) for name in (DEFAULT, "linear")]
    results = [
        LaunchResult(
            Cell("bcast", Algorithm("openmpi", name), 2, "core", size, "warm"),
            launch,
            "here",
            median_us=TIMES[name],
            repetitions=30,
            in_turn=f"{launch}/{size}",
            relative=TIMES[name] * random.lognormal(0, 0.005),
        )
        for size, launch, name in rows
    ]
    return results_frame(results).with_columns(pl.lit(0.02).alias(REGRET))


def test_a_choice_and_its_bound_stand_at_each_point_that_was_raced() -> None:
    standing = race_standings(raced()).row(by_predicate=pl.col("message_bytes") == 8, named=True)
    assert (standing["choice_label"], standing["race_launches"], standing["race_over"]) == ("linear", 8, True)
    assert standing["regret_high"] <= 0.02


def test_sizes_that_were_only_looked_at_bound_nothing_and_count_in_no_verdict() -> None:
    standing = race_standings(raced()).row(by_predicate=pl.col("message_bytes") == 64, named=True)
    assert standing["regret_high"] is None
    assert not standing["race_complete"]
    assert decide(raced())["message_bytes"].to_list() == [8]
    assert raced_points(raced())["message_bytes"].unique().to_list() == [8]
    verdict = race_verdict(raced())
    assert verdict is not None
    assert (verdict.points, verdict.looked_at, verdict.reached) == (1, 1, 1)


def test_a_race_compares_by_bounds_and_has_no_p_value() -> None:
    found = {row["label"]: row for row in compare_with_default(raced()).iter_rows(named=True)}
    assert found["linear"]["significant"]
    assert found["linear"]["ratio_low"] > 1.8
    assert found["linear"]["p_value"] is None
    assert found["ring"]["launches"] == 3
    [decision] = decide(raced()).iter_rows(named=True)
    assert (decision["best_label"], decision["standing"]) == ("linear", SLOWER)
    assert decision["gain"] == pytest.approx(2, rel=0.02)


def test_dropped_cells_say_why_and_others_say_nothing() -> None:
    told = {
        (row["label"], row["message_bytes"]): row["dropped"] for row in estimate_cells(raced()).iter_rows(named=True)
    }
    assert told["ring", 8].startswith("after launch 3: at least ")
    assert told["linear", 8] is None
    assert told["linear", 64] == "after 3 launches: looked at, between points that were measured"


def test_what_was_given_up_says_after_which_launch_and_bounds_nothing() -> None:
    # The linear one, the fastest, dies from launch 4 on, when three launches have bounded little.
    dies = (pl.col("algorithm") == "linear") & (pl.col("launch") >= 4)
    results = (
        raced(looked_at=False, dropped=False)
        .filter(~dies | (pl.col("launch") <= 5))
        .with_columns(
            pl.when(dies).then(pl.lit("ended with status 3")).alias("error"),
            *(pl.when(~dies).then(name).alias(name) for name in ("median_us", "relative")),
        )
    )
    told = {row["label"]: (row["dropped"], row["status"]) for row in estimate_cells(results).iter_rows(named=True)}
    assert told["linear"] == ("given up after launch 5", "dropped+failed")
    assert told[DEFAULT] == (None, "ok")
    [standing] = race_standings(results).iter_rows(named=True)
    assert (standing["choice_label"], standing["regret_high"], standing["race_over"]) == (DEFAULT, 0.0, True)
    [decision] = decide(results).iter_rows(named=True)
    assert (decision["best_label"], decision["tied"], decision["standing"]) == (DEFAULT, [DEFAULT], WITHIN)


def test_a_point_that_ended_undecided_says_why() -> None:
    noise = pl.lit(pl.Series(np.random.default_rng(1).lognormal(0, 0.03, 19)))
    alike = noise * pl.when(pl.col("algorithm") == "ring").then(4).otherwise(1)
    results = raced(looked_at=False).with_columns(alike.alias("relative"), pl.lit(11).alias(ALLOWED))
    [standing] = race_standings(results).iter_rows(named=True)
    assert standing["regret_high"] > 0.02
    assert standing["race_over"]
    assert standing["undecided"] == "after 8 launches: would take about 22; 11 are allowed"
    assert "of the launches that chose, and corrected for that in part" in race_lines(race_verdict(results))[-1]
    assert race_lines(race_verdict(results))[1].startswith("It ended at 1 point that launches would hardly decide")
    told = {row["label"]: (row["dropped"], row["undecided"]) for row in estimate_cells(results).iter_rows(named=True)}
    assert told["linear"] == (None, standing["undecided"])

    # Another rank count, in launches of its own, to the last that is allowed: that one spent them all.
    longer = results.with_columns(pl.lit(4, pl.Int64).alias("ranks"), pl.col("launch") + 3, pl.col("in_turn") + "/4")
    both = race_standings(pl.concat([results, longer]))
    assert dict(both.select("ranks", "undecided").iter_rows()) == {2: standing["undecided"], 4: None}
    verdict = race_verdict(pl.concat([results, longer]))
    assert verdict is not None
    assert (verdict.points, verdict.reached, verdict.ended) == (2, 0, 1)


@pytest.mark.parametrize("allowed", [64, 200, None], ids=["all spent", "more allowed", "budget"])
def test_a_race_offers_no_launches_after_its_last_look(allowed: int | None) -> None:
    def after(launches: int, allowed: int | None) -> pl.DataFrame:
        random = np.random.default_rng(1)
        results = [
            LaunchResult(
                Cell("bcast", Algorithm("openmpi", name), 2, "core", 8, "warm"),
                launch,
                "here",
                median_us=1.0,
                repetitions=30,
                in_turn=str(launch),
                relative=random.lognormal(0, 0.3),
            )
            for launch in range(1, launches + 1)
            for name in (DEFAULT, "linear")
        ]
        told = {REGRET: pl.lit(0.02), ALLOWED: pl.lit(allowed, dtype=pl.Int64)}
        return results_frame(results).with_columns(**told)

    [before] = race_standings(after(63, None)).iter_rows(named=True)
    assert (before["race_over"], before["undecided"]) == (False, None)
    more = "more launches (--launches, --budget), up to 64 at a point, narrow bounds at 1 point"
    assert more in race_lines(race_verdict(after(63, None)))[0]

    [last] = race_standings(after(64, allowed)).iter_rows(named=True)
    assert last["regret_high"] > 0.02
    assert (last["race_over"], last["undecided"]) == (True, "after 64 launches: a race looks no more")
    first, ended, *_ = race_lines(race_verdict(after(64, allowed)))
    assert "more launches" not in first
    assert "or that 64 left undecided" in ended


def test_a_size_that_a_race_looked_at_counts_where_another_campaign_measured_it() -> None:
    again = raced(looked_at=False).with_columns(
        pl.lit(64, dtype=pl.Int64).alias("message_bytes"),
        pl.lit(None, dtype=pl.Float64).alias(REGRET),
        pl.col("in_turn") + "/again",
    )
    both = pl.concat([raced(), again])
    assert decide(both)["message_bytes"].to_list() == [8, 64]
    assert decide(both).filter(message_bytes=64).equals(decide(again))
    assert compare_with_default(both).filter(message_bytes=64)["p_value"].is_not_null().all()


def test_without_a_race_nothing_is_left_out() -> None:
    exhaustive = raced().with_columns(pl.lit(None, dtype=pl.Float64).alias(REGRET))
    assert raced_points(exhaustive).height == exhaustive.height
    assert race_verdict(exhaustive) is None
    assert race_standings(exhaustive).is_empty()


def test_a_gain_is_corrected_for_being_chosen_by_the_same_launches() -> None:
    # Two equal ones, of which each is the faster in some launches, take half as long as the default.
    results = raced(looked_at=False, dropped=False)
    noise = np.random.default_rng(3).lognormal(0, 0.03, results.height)
    times = noise * np.where(results["algorithm"] == DEFAULT, 2.0, 1.0)
    results = results.with_columns(pl.Series("relative", times))
    [decision] = decide(results).iter_rows(named=True)
    of_default, of_best = (
        np.log(results.filter(algorithm=name)["relative"].to_numpy()).mean()
        for name in (DEFAULT, decision["best_label"])
    )
    assert decision["gain_low"] < decision["gain"] < np.exp(of_default - of_best)
    [shown] = [row for row in compare_with_default(results).to_dicts() if row["label"] == decision["best_label"]]
    assert shown["ratio"] == decision["gain"]
