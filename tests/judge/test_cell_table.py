from dataclasses import replace

import polars as pl
import pytest
from tools.reference import described_keys

from tests.campaign_files import results_frame
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.judge.cell_table import CONTRACT, EXTRAS, estimate_cells
from timpani.judge.raced import RacedResults
from timpani.study.cell import Algorithm, Cell

CELL = Cell("bcast", Algorithm("openmpi", "chain", (("fanout", 4),)), 4, "core", 1024, "warm")


def launch(number: int, median_us: float, **values: object) -> LaunchResult:
    measured = LaunchResult(
        cell=CELL,
        launch=number,
        machine="here",
        median_us=median_us,
        ci_low_us=median_us - 0.1,
        ci_high_us=median_us + 0.1,
        osu_avg_us=median_us / 2,
        osu_min_us=median_us / 4,
        osu_max_us=median_us,
        skew_us=0.01 * number,
        repetitions=100,
        outlier_share=0.02,
    )
    return replace(measured, **values)  # type: ignore[arg-type]


def six(**values: object) -> list[LaunchResult]:
    return [launch(number, 16.5 + number, **values) for number in range(1, 7)]


def estimated(results: list[LaunchResult]) -> pl.DataFrame:
    return estimate_cells(RacedResults.from_rows(results_frame(results)))


def only_row(results: list[LaunchResult]) -> dict[str, object]:
    cells = estimated(results)
    assert cells.height == 1
    return cells.row(0, named=True)


def failed(number: int) -> LaunchResult:
    return LaunchResult(cell=CELL, launch=number, machine="here", error=f"rank 1 died in launch {number}")


def test_estimate_is_the_median_of_launches_with_an_interval_over_launches() -> None:
    row = only_row(six())
    assert tuple(row) == CONTRACT + EXTRAS
    assert (row["median_us"], row["ci_low_us"], row["ci_high_us"]) == (20.0, 17.5, 22.5)
    assert row["ci_coverage"] == pytest.approx(1 - 2 / 2**6)
    assert row["osu_avg_us"] == pytest.approx(10.0)
    assert row["skew_us"] == pytest.approx(0.035)
    assert row["relative_mad"] == pytest.approx(1.5 / 20)
    assert (row["launches"], row["launches_needed"], row["repetitions"], row["status"]) == (6, 6, 600, "ok")
    assert row["label"] == CELL.algorithm.label


def test_a_single_launch_has_no_interval() -> None:
    row = only_row([launch(1, 2.0)])
    assert (row["median_us"], row["ci_low_us"], row["ci_high_us"], row["ci_coverage"]) == (2.0, None, None, None)
    assert row["status"] == "not_converged"


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ({"converged": False}, "not_converged"),
        ({"skewed": True}, "skewed"),
        ({"oversubscribed": True}, "oversubscribed"),
        ({"simulated": True}, "simulated"),
        ({"converged": False, "skewed": True, "oversubscribed": True}, "not_converged+skewed+oversubscribed"),
    ],
)
def test_status_joins_what_the_launches_say(flags: dict[str, bool], status: str) -> None:
    assert only_row(six(**flags))["status"] == status


def test_an_interval_of_over_a_quarter_of_the_median_each_way_is_wide() -> None:
    for half, status in ((2.4, "ok"), (2.6, "wide")):
        times = (10 - half, 9.0, 10.0, 10.0, 11.0, 10 + half)
        assert only_row([launch(number, time) for number, time in enumerate(times, 1)])["status"] == status


def test_a_cell_needs_the_launches_that_comparing_its_point_takes() -> None:
    def rows(competitors: int, **values: object) -> pl.DataFrame:
        names = ["default", *(f"a{number}" for number in range(competitors))]
        cells = [replace(CELL, algorithm=Algorithm("openmpi", name)) for name in names]
        return estimated([replace(each, cell=cell) for cell in cells for each in six(**values)])

    assert rows(23)["launches_needed"].unique().to_list() == [6]
    assert rows(23)["status"].unique().to_list() == ["ok"]
    assert rows(24)["launches_needed"].unique().to_list() == [7]
    assert rows(24)["status"].unique().to_list() == ["not_converged"]
    assert rows(24, simulated=True)["launches_needed"].is_null().all()


def test_messages_between_many_ranks_do_not_compete() -> None:
    pairs = [Algorithm("openmpi", "default", (("first", 0), ("second", rank))) for rank in range(1, 40)]
    cells = [replace(CELL, collective="latency", algorithm=pair) for pair in pairs]
    rows = estimated([replace(each, cell=cell) for cell in cells for each in six()])
    assert (rows["launches_needed"].unique().to_list(), rows["status"].unique().to_list()) == ([6], ["ok"])


def test_a_minority_of_launches_does_not_mark_the_cell() -> None:
    some = [replace(result, converged=False, skewed=True, bimodal=True) for result in six()[:2]]
    row = only_row(some + six()[2:])
    assert row["status"] == "ok"
    assert row["bimodal"] is False


def test_one_launch_in_which_ranks_missed_the_arrival_pattern_marks_the_cell() -> None:
    assert only_row([replace(six()[0], lateness_missed=True), *six()[1:]])["status"] == "lateness_missed"


def test_a_failed_launch_is_reported_and_the_others_are_used() -> None:
    row = only_row([*six(), failed(7), failed(8)])
    assert row["status"] == "failed"
    assert row["error"] == "rank 1 died in launch 7"
    assert (row["launches"], row["median_us"]) == (6, 20.0)


def test_a_cell_that_always_failed_has_no_times() -> None:
    row = only_row([failed(1), failed(2)])
    assert row["status"] == "failed"
    assert (row["launches"], row["repetitions"]) == (0, 0)
    assert all(row[name] is None for name in ("median_us", "ci_low_us", "osu_avg_us", "relative_mad", "ci_coverage"))


def test_imported_launches_have_only_their_average() -> None:
    imported = [LaunchResult(CELL, number, "there", osu_avg_us=float(number), repetitions=10) for number in range(6)]
    row = only_row(imported)
    assert (row["median_us"], row["ci_low_us"], row["relative_mad"]) == (None, None, None)
    assert (row["osu_avg_us"], row["launches"], row["status"]) == (2.5, 6, "average_only")


def test_nothing_measured_gives_an_empty_table() -> None:
    cells = estimated([])
    assert cells.height == 0
    assert cells.schema["median_us"] == pl.Float64()


def test_throughput_is_bytes_over_time_and_its_interval_turns_round() -> None:
    bandwidth = replace(CELL, collective="bandwidth", algorithm=Algorithm("openmpi", "default"), message_bytes=39600)
    row = only_row([replace(result, cell=bandwidth) for result in six()])
    assert row["throughput_mb_per_s"] == pytest.approx(1980.0)
    assert (row["throughput_low_mb_per_s"], row["throughput_high_mb_per_s"]) == (
        pytest.approx(1760.0),
        pytest.approx(39600 / 17.5),
    )


@pytest.mark.parametrize("operation", ["bcast", "reduce_local"])
def test_operations_that_move_other_than_their_size_have_no_throughput(operation: str) -> None:
    row = only_row([replace(result, cell=replace(CELL, collective=operation)) for result in six()])
    assert row["throughput_mb_per_s"] is None


def test_every_status_is_documented() -> None:
    words = {"ok", "not_converged", "skewed", "oversubscribed", "failed", "simulated"}
    assert words <= described_keys("columns", "`status`")
