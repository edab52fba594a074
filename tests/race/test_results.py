"""What is read from the results of a race."""

from datetime import datetime

import numpy as np
import polars as pl
import pytest

from tests.campaign_files import cell, results_frame, results_of
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.cell_table import estimate_cells
from timpani.judge.decide import EQUIVALENT, SLOWER, compare_with_default, decide
from timpani.judge.jobs import JobScope
from timpani.judge.raced import RacedResults, RaceVerdict, race_standings, race_verdict, raced_points
from timpani.race.results import ReadRace
from timpani.report.verdict.verdict_text import race_blocks
from timpani.study.cell import DEFAULT, Algorithm, Cell
from timpani.study.point_weights import Point
from timpani.study.schema import ALLOWED, REGRET

TIMES = {DEFAULT: 2.0, "linear": 1.0, "ring": 4.0}


def race_lines(race: RaceVerdict | None, scope: JobScope | None = None) -> list[str]:
    return [block.text for block in race_blocks(race, scope)]


def around(random: np.random.Generator, time: float, launches: int, spread: float = 0.005) -> list[float]:
    return (time * random.lognormal(0, spread, launches)).tolist()  # type: ignore[no-any-return]


def raced(sampled: bool = True, dropped: bool = True) -> pl.DataFrame:
    """Eight launches of a race at 8 B, in which ring was dropped after three, and three that sampled 64 B."""
    random = np.random.default_rng(1)
    at_8 = {cell(name, 8): around(random, t, 3 if name == "ring" and dropped else 8) for name, t in TIMES.items()}
    at_64 = {cell(name, 64): around(random, TIMES[name], 3) for name in (DEFAULT, "linear") if sampled}
    results = [*results_of(at_8, interleaved=True, sampled=False), *results_of(at_64, interleaved=True, sampled=True)]
    return results_frame(results, 0.02).sort("launch", maintain_order=True)


def test_a_choice_and_its_bound_stand_at_each_point_that_was_raced() -> None:
    standing = race_standings(RacedResults.from_rows(raced())).row(
        by_predicate=pl.col("message_bytes") == 8, named=True
    )
    assert (standing["choice_label"], standing["race_launches"], standing["race_over"]) == ("linear", 8, True)
    assert standing["regret_high"] <= 0.02


def test_over_several_jobs_the_bound_includes_how_ratios_change_between_them() -> None:
    """An algorithm that one job dropped keeps that job's bound."""
    job = pl.col("launch").sub(1).floordiv(3).cast(pl.String)
    of_jobs = raced(sampled=False).with_columns(job.alias("job"))
    alike, differing = (
        RacedResults.from_rows(
            of_jobs.with_columns(pl.when(algorithm="linear").then(pl.col("relative") * moved).otherwise("relative"))
        )
        for moved in (1.0, 1 + 0.4 * job.cast(pl.Int64))
    )
    [in_one], [equal], [unequal] = (
        race_standings(each).iter_rows(named=True)
        for each in (RacedResults.from_rows(raced(sampled=False)), alike, differing)
    )
    assert in_one["regret_high"] <= equal["regret_high"] <= 0.02 < unequal["regret_high"]
    assert unequal["choice_label"] == "linear"
    assert not decide(alike)["raced"].any()
    scope = JobScope(3, (3, 3), False, ("here",), datetime(2026, 11, 28), datetime(2026, 11, 28))
    first, *_, replicate, others = race_lines(race_verdict(differing), scope)
    assert first.startswith("Race over 3 runs: the choice takes at most 2 % longer than the best (95 % bound) at 0 of")
    assert "More runs would narrow the bound at 1 point." in race_lines(race_verdict(differing), scope)
    assert replicate.startswith("Where several runs measured the choice, the run is the replicate of its bound, which")
    assert replicate.endswith("at one analysis, not at several.")
    assert others.startswith("Each other one-sided bound has 95 % confidence")


def test_sampled_sizes_have_no_bound_and_count_in_no_verdict() -> None:
    standing = race_standings(RacedResults.from_rows(raced())).row(
        by_predicate=pl.col("message_bytes") == 64, named=True
    )
    assert standing["regret_high"] is None
    assert not standing["race_complete"]
    assert decide(RacedResults.from_rows(raced()))["message_bytes"].to_list() == [8]
    assert raced_points(RacedResults.from_rows(raced())).rows["message_bytes"].unique().to_list() == [8]
    verdict = race_verdict(RacedResults.from_rows(raced()))
    assert verdict is not None
    assert (verdict.points, verdict.sampled, verdict.reached) == (1, 1, 1)


def test_a_race_compares_by_bounds_and_has_no_p_value() -> None:
    found = {row["label"]: row for row in compare_with_default(RacedResults.from_rows(raced())).iter_rows(named=True)}
    assert found["linear"]["significant"]
    assert found["linear"]["ratio_low"] > 1.8
    assert found["linear"]["p_value"] is None
    assert found["ring"]["launches"] == 3
    [decision] = decide(RacedResults.from_rows(raced())).iter_rows(named=True)
    assert (decision["best_label"], decision["standing"]) == ("linear", SLOWER)
    assert decision["gain"] == pytest.approx(2, rel=0.02)


def test_cells_that_were_only_sampled_have_that_status() -> None:
    cells = {
        (row["label"], row["message_bytes"]): row
        for row in estimate_cells(RacedResults.from_rows(raced())).iter_rows(named=True)
    }
    assert [cells[name, 64]["status"] for name in (DEFAULT, "linear")] == ["sampled", "sampled"]
    assert cells["ring", 8]["status"] == "dropped"
    assert [cells[name, 8]["sampled"] for name in TIMES] == [False] * 3


def linear_dies() -> pl.DataFrame:
    """The fastest dies from launch 4 on, when three launches have bounded little."""
    dies = (pl.col("algorithm") == "linear") & (pl.col("launch") >= 4)
    return (
        raced(sampled=False, dropped=False)
        .filter(~dies | (pl.col("launch") <= 5))
        .with_columns(
            pl.when(dies).then(pl.lit("ended with status 3")).alias("error"),
            *(pl.when(~dies).then(name).alias(name) for name in ("median_us", "relative")),
        )
    )


@pytest.mark.parametrize("others", [[DEFAULT, "ring"], [DEFAULT]])
def test_an_abandoned_algorithm_is_no_rival_over_several_jobs(others: list[str]) -> None:
    of_jobs = linear_dies().with_columns((pl.col("launch") % 2).cast(pl.String).alias("job"))
    with_it, without_it = (
        race_standings(RacedResults.from_rows(of_jobs.filter(pl.col("algorithm").is_in(names))))
        for names in ([*others, "linear"], others)
    )
    assert with_it["choice_label"].to_list() == without_it["choice_label"].to_list() == [DEFAULT]
    assert with_it["regret_high"].to_list() == without_it["regret_high"].to_list()


def test_an_abandoned_algorithm_has_its_last_launch_and_no_bound() -> None:
    results = linear_dies()
    endings = {
        row["label"]: (row["dropped"], row["status"])
        for row in estimate_cells(RacedResults.from_rows(results)).iter_rows(named=True)
    }
    assert endings["linear"] == ("abandoned after launch 5", "dropped+failed")
    assert endings[DEFAULT] == (None, "ok")
    [standing] = race_standings(RacedResults.from_rows(results)).iter_rows(named=True)
    assert (standing["choice_label"], standing["regret_high"], standing["race_over"]) == (DEFAULT, 0.0, True)
    [decision] = decide(RacedResults.from_rows(results)).iter_rows(named=True)
    assert (decision["best_label"], decision["tied"], decision["standing"]) == (DEFAULT, [DEFAULT], EQUIVALENT)


def test_a_point_that_ended_undecided_says_why() -> None:
    noise = pl.lit(pl.Series(np.random.default_rng(1).lognormal(0, 0.03, 19)))
    same_ratios = noise * pl.when(pl.col("algorithm") == "ring").then(4).otherwise(1)
    results = raced(sampled=False).with_columns(same_ratios.alias("relative"), pl.lit(11).alias(ALLOWED))
    [standing] = race_standings(RacedResults.from_rows(results)).iter_rows(named=True)
    assert standing["regret_high"] > 0.02
    assert standing["race_over"]
    assert standing["race_ended"] == "after 8 launches: would need about 22; 11 are allowed"
    assert (
        "Cross-validation corrects part of this bias" in race_lines(race_verdict(RacedResults.from_rows(results)))[-1]
    )
    more = "More launches (--launches, --budget), up to 64 at a point, would narrow the bound at 1 point."
    assert race_lines(race_verdict(RacedResults.from_rows(results)))[1] == more
    endings = {
        row["label"]: (row["dropped"], row["race_ended"])
        for row in estimate_cells(RacedResults.from_rows(results)).iter_rows(named=True)
    }
    assert endings["linear"] == (None, standing["race_ended"])


@pytest.mark.parametrize("allowed", [64, 200, None], ids=["all spent", "more allowed", "budget"])
def test_a_race_offers_no_launches_after_its_last_look(allowed: int | None) -> None:
    def after(launches: int, allowed: int | None) -> pl.DataFrame:
        random = np.random.default_rng(1)
        times = {cell(name): around(random, 1.0, launches, 0.3) for name in (DEFAULT, "linear")}
        return results_frame(results_of(times, interleaved=True), 0.02, allowed)

    [before] = race_standings(RacedResults.from_rows(after(63, None))).iter_rows(named=True)
    assert (before["race_over"], before["race_ended"]) == (False, None)
    undecided = race_lines(race_verdict(RacedResults.from_rows(after(63, None))))[1]
    assert undecided.startswith("Still undecided: 1 point that would need over 64 launches")

    [last] = race_standings(RacedResults.from_rows(after(64, allowed))).iter_rows(named=True)
    assert last["regret_high"] > 0.02
    assert (last["race_over"], last["race_ended"]) == (True, "after 64 launches, the last interim analysis")
    _, ended, *_ = race_lines(race_verdict(RacedResults.from_rows(after(64, allowed))))
    assert ended.startswith("Still undecided: 1 point after 64 launches, the last interim analysis (")


def test_a_sampled_size_counts_if_another_campaign_measured_it() -> None:
    again = raced(sampled=False).with_columns(
        pl.lit(64, dtype=pl.Int64).alias("message_bytes"),
        pl.lit(None, dtype=pl.Float64).alias(REGRET),
        pl.col("interleaving") + "/again",
    )
    both = pl.concat([raced(), again])
    assert decide(RacedResults.from_rows(both))["message_bytes"].to_list() == [8, 64]
    assert decide(RacedResults.from_rows(both)).filter(message_bytes=64).equals(decide(RacedResults.from_rows(again)))
    assert compare_with_default(RacedResults.from_rows(both)).filter(message_bytes=64)["p_value"].is_not_null().all()


def test_without_a_race_nothing_is_left_out() -> None:
    exhaustive = raced().with_columns(pl.lit(None, dtype=pl.Float64).alias(REGRET))
    assert raced_points(RacedResults.from_rows(exhaustive)).rows.height == exhaustive.height
    assert race_verdict(RacedResults.from_rows(exhaustive)) is None
    assert race_standings(RacedResults.from_rows(exhaustive)).is_empty()


def test_a_gain_is_corrected_for_being_chosen_by_the_same_launches() -> None:
    # Two equal ones, of which each is the faster in some launches, take half as long as the default.
    results = raced(sampled=False, dropped=False)
    noise = np.random.default_rng(3).lognormal(0, 0.03, results.height)
    times = noise * np.where(results["algorithm"] == DEFAULT, 2.0, 1.0)
    results = results.with_columns(pl.Series("relative", times))
    [decision] = decide(RacedResults.from_rows(results)).iter_rows(named=True)
    of_default, of_best = (
        np.log(results.filter(algorithm=name)["relative"].to_numpy()).mean()
        for name in (DEFAULT, decision["best_label"])
    )
    assert decision["gain_low"] < decision["gain"] < np.exp(of_default - of_best)
    [shown] = [
        row
        for row in compare_with_default(RacedResults.from_rows(results)).to_dicts()
        if row["label"] == decision["best_label"]
    ]
    assert shown["ratio"] == decision["gain"]


def result(size: int, launch: int, name: str, time: float | None, sampled: bool = False) -> LaunchResult:
    return LaunchResult(
        Cell("bcast", Algorithm("openmpi", name), 2, "core", size, "warm"),
        launch,
        "here",
        median_us=time,
        repetitions=30,
        interleaving=f"{launch}/{size}",
        relative=time,
        error=None if time else "died",
        sampled=sampled,
    )


def variants() -> pl.DataFrame:
    """Eight launches of a race between variants at two sizes; `slow` is dropped early, `same` never."""
    random = np.random.default_rng(1)
    times = {
        cell(f"default@{name}", size): around(random, time, 3 if name == "slow" else 8, 0.02)
        for size in (8, 64)
        for name, time in {"default": 2.0, "same": 1.98, "slow": 4.0}.items()
    }
    return results_frame(results_of(times), 0.02)


def test_a_variant_that_is_slower_everywhere_is_named_with_the_launch_that_dropped_it() -> None:
    verdict = race_verdict(RacedResults.from_rows(variants()))
    assert [each.text for each in race_blocks(verdict) if each.name == "dropped"] == [
        "Dropped before the race ended: slow after launch 3 (slower at 2 of 2 points)."
    ]


def test_a_verdict_has_the_bounds_by_which_the_race_decided() -> None:
    # Variances are pooled over all points, also over those that were only sampled and vary more.
    random = np.random.default_rng(1)
    rows = [
        result(size, launch, name, TIMES[name] * float(random.lognormal(0, 0.05 if sampled else 0.005)), sampled)
        for size in (8, 16, 32, 64, 128)
        for sampled in (size > 16,)
        for launch in (range(6, 9) if sampled else range(1, 9))
        for name in TIMES
    ]
    results = RacedResults.from_rows(results_frame(rows).with_columns(pl.lit(0.02).alias(REGRET)))
    assert isinstance(results.race, ReadRace)
    default, linear = (Algorithm("openmpi", name) for name in (DEFAULT, "linear"))
    ratio = results.race.race.ratio(Point("bcast", 2, "core", 8, "warm", "here"), default, linear)
    assert ratio is not None
    [compared] = compare_with_default(results).filter(label="linear", message_bytes=8).to_dicts()
    assert (compared["ratio_low"], compared["ratio_high"]) == (ratio.low, ratio.high)
    alone = RacedResults.from_rows(raced_points(results).rows)
    assert compare_with_default(alone).filter(label="linear", message_bytes=8)["ratio_low"].item() != ratio.low


def test_every_point_that_was_asked_for_counts_as_what_became_of_it() -> None:
    launches, names = range(1, 9), ("linear", "ring", "chain")
    random = np.random.default_rng(1)

    def around(time: float) -> float:
        return time * float(random.lognormal(0, 0.005))

    results = [
        *(result(8, launch, name, around(TIMES.get(name, 3.0))) for launch in launches for name in (DEFAULT, *names)),
        *(
            result(16, launch, name, around(5.0 if name == "linear" else 2.0), True)
            for launch in (6, 7, 8)
            for name in TIMES
        ),
        *(
            result(32, launch, name, around(1.0) if name == "ring" else None)
            for launch in launches[:2]
            for name in TIMES
        ),
        *(
            result(64, launch, name, None if name == "chain" else around(TIMES[name]))
            for launch in launches
            for name in (*TIMES, "chain")
        ),
        *(result(128, launch, name, None) for launch in launches[:2] for name in TIMES),
    ]
    planned = frozenset(Point("bcast", 2, "core", size, "warm", "here") for size in (8, 16, 32, 64, 128, 256))
    verdict = race_verdict(
        RacedResults.from_rows(results_frame(results).with_columns(pl.lit(0.02).alias(REGRET))), planned
    )
    assert verdict is not None
    assert (verdict.requested, verdict.points, verdict.reached, verdict.partly_failed) == (6, 2, 2, 1)
    assert (verdict.sampled, verdict.unexpected) == (1, 1)
    assert (verdict.without_competitor, verdict.failed, verdict.unreached) == (1, 1, 1)
    assert race_lines(verdict)[:-1] == [
        "Race: the choice takes at most 2 % longer than the best (95 % bound) at 2 of 2 points that were raced, of "
        "6 requested.",
        "Some algorithms failed at 1 point: the best there is the best of the others.",
        "At 1 point a few algorithms were sampled in few launches; at 1 point everything failed; at 1 point only one "
        "algorithm has times, so that there is no best; at 1 point the race measured nothing.",
        "At 1 of these sampled points the neighbors' choice seems to take over 5 % longer than another algorithm. No "
        "launch was left to race it: measure with more --launches.",
    ]
