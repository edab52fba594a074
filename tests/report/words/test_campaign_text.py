import subprocess
import sys
from dataclasses import replace
from typing import Any

import polars as pl

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, results_frame
from timpani.campaign.read.cell_table import estimate_cells
from timpani.report.words.campaign_text import AVERAGES_ONLY, cell_markdown, cell_table, verdict_lines
from timpani.study.cell import Algorithm, Cell
from timpani.tuning.decide.other_points import Elsewhere
from timpani.tuning.decide.verdict import Decisive, Loss, Verdict

LOSS = Loss("bcast", 8, "core", 65536, "warm", "here", "chain", 2.5, 2.25, 2.75)


def result(
    collective: str, name: str, message_bytes: int, ranks: int = 4, launch: int = 1, **values: float | str | None
) -> LaunchResult:
    cell = Cell(collective, Algorithm("openmpi", name), ranks, "core", message_bytes, "warm")
    return replace(LaunchResult(cell, launch, "here"), **values)  # type: ignore[arg-type]


def table_of(*results: LaunchResult) -> str:
    return cell_table(estimate_cells(results_frame(list(results))))


def test_table_has_a_block_per_collective_and_rank_count_with_aligned_columns() -> None:
    text = table_of(
        result("bcast", "default", 8, median_us=1.5, ci_low_us=1.4, ci_high_us=1.6, osu_avg_us=1.0),
        result("bcast", "knomial", 1048576, median_us=1234.5678, ci_low_us=1.0, ci_high_us=2.0, osu_avg_us=1.0),
        result("bcast", "default", 8, ranks=2, median_us=0.5, ci_low_us=0.4, ci_high_us=0.6, osu_avg_us=0.3),
    )
    two, four = text.split("\n\n")
    assert two.splitlines() == [
        "Broadcast, 2 ranks, core, warm, on here",
        "algorithm  size  median µs  status",
        "default     8 B      0.500  not_converged",
    ]
    assert four.splitlines()[1:] == [
        "algorithm   size  median µs  status",
        "default      8 B      1.500  not_converged",
        "knomial    1 MiB   1234.568  not_converged",
    ]


def test_intervals_are_headed_by_what_they_cover() -> None:
    two = [result("bcast", "default", 8, launch=launch, median_us=launch) for launch in (1, 2)]
    assert table_of(*two).splitlines()[1:] == [
        "algorithm  size  median µs   from  to (50 %)  status",
        "default     8 B      1.500  1.000      2.000  not_converged+wide",
    ]
    six = [result("bcast", "ring", 8, launch=launch, median_us=launch) for launch in range(1, 7)]
    assert table_of(*six).splitlines()[1].split("  ")[-2:] == ["to (96.9 %)", "status"]
    assert "to (50 to 96.9 %)" in table_of(*two, *six)


def test_markdown_has_the_same_rows() -> None:
    cells = estimate_cells(results_frame([result("bcast", "default", 8, median_us=1.5)]))
    assert cell_markdown(cells).splitlines() == [
        "### Broadcast, 4 ranks, core, warm, on here",
        "",
        "| algorithm | size | median µs | status |",
        "| --- | ---: | ---: | --- |",
        "| default | 8 B | 1.500 | not_converged |",
    ]


def test_barrier_has_no_size_and_a_failed_cell_no_time() -> None:
    text = table_of(result("barrier", "default", 0, error="rank 1 died"))
    assert text.splitlines()[1:] == [
        "algorithm  median µs  status",
        "default            –  failed",
    ]


def test_imported_cells_show_their_average_and_say_so() -> None:
    text = table_of(result("bcast", "default", 8, osu_avg_us=0.93))
    assert AVERAGES_ONLY in text
    assert text.splitlines()[2:] == [
        "algorithm  size  OSU avg µs  status",
        "default     8 B       0.930  average_only",
    ]


def test_bandwidth_is_shown_in_megabytes_a_second_and_a_message_rate_in_messages() -> None:
    times: dict[str, Any] = {"median_us": 2.0, "ci_low_us": 1.6, "ci_high_us": 2.5, "osu_avg_us": 2.0}
    text = table_of(
        *(result("bandwidth", "default", 8000, launch=launch, **times) for launch in range(6)),
        *(result("message_rate", "default", 8, launch=launch, **times) for launch in range(6)),
    )
    bandwidth, rate = text.split("\n\n")
    assert bandwidth.splitlines() == [
        "Bandwidth, 4 ranks, core, warm, on here",
        "algorithm    size      MB/s      from  to (96.9 %)  status",
        "default    8000 B  4000.000  4000.000     4000.000  ok",
    ]
    assert rate.splitlines()[1:] == [
        "algorithm  size  messages/s        from  to (96.9 %)  status",
        "default     8 B  500000.000  500000.000   500000.000  ok",
    ]


def test_messages_between_ranks_say_how_close_those_sit() -> None:
    cells = estimate_cells(results_frame([result("latency", "default", 8, median_us=0.2, osu_avg_us=0.2)]))
    assert cell_table(cells.with_columns(locality=pl.lit("same socket"))).splitlines()[1:] == [
        "algorithm     locality  size  median µs  status",
        "default    same socket   8 B      0.200  not_converged",
    ]


def verdict(within: int, slower: int, undecided: int, **values: Any) -> Verdict:
    given: dict[str, Any] = {"losses": (), "sentences": (), "warnings": (), **values}
    return Verdict(within + slower + undecided, within, slower, undecided, **given)


def test_a_gain_of_a_race_has_two_bounds_of_95_percent_each_and_no_interval_of_that() -> None:
    said = verdict_lines(verdict(40, 5, 18, losses=(replace(LOSS, raced=True),)))
    assert said[1].endswith("chain is 2.50 × as fast (bounds of 95 % each: 2.25 … 2.75).")


def test_verdict_answers_first_and_warns_last() -> None:
    said = verdict_lines(
        verdict(40, 5, 18, losses=(LOSS,), sentences=("bcast, 63 points: …",), warnings=("2 of 9 cells …",))
    )
    assert said == [
        "Verdict: of 63 points (collective, ranks, size) it is shown that at 40 the default is within 5 % of the "
        "fastest, and at 5 another algorithm is faster; 18 are undecided.",
        "Largest gain: bcast at 64 KiB on 8 ranks: chain is 2.50 × as fast (95 % interval 2.25 … 2.75).",
        "  bcast, 63 points: …",
        "Warning: 2 of 9 cells …",
    ]


BY_RULES = "timpani preload --rules FILE -- mpirun"


def test_losses_are_told_with_what_switches_their_algorithm_on() -> None:
    own = replace(LOSS, collective="reduce", best_label="timpani/binary", set_by=BY_RULES)
    losses = (replace(LOSS, set_by="mpirun --mca coll_tuned_bcast_algorithm 2"), own, *[replace(LOSS)] * 2)
    _, worst, how, then, rules, third, *rest = verdict_lines(verdict(0, 4, 0, losses=losses))
    assert worst.startswith("Largest gain: bcast at 64 KiB")
    assert how == "  chain in all calls of bcast: mpirun --mca coll_tuned_bcast_algorithm 2 …"
    assert then.startswith("Next: reduce at 64 KiB on 8 ranks: timpani/binary is 2.50 × as fast")
    assert rules == f"  timpani/binary by rules (`timpani rules`): {BY_RULES} …"
    assert (third[:6], rest) == ("Then: ", [])


def test_settings_that_were_not_recorded_are_said_to_be() -> None:
    *_, last = verdict_lines(verdict(0, 1, 0, losses=(LOSS,), settings_recorded=False))
    assert last == "How to switch an algorithm on is not recorded: the campaign was measured by an earlier version."


def test_undecided_points_are_told_with_what_would_decide_them() -> None:
    *_, last = verdict_lines(verdict(1, 0, 10, decisive=Decisive(10, 20, 300, 14.0, 294.0)))
    half, most = "About 20 launches in all (14 s more)", "300 (4 min 54 s more)"
    assert last == f"{half} should decide half of the undecided points, {most} nine in ten."
    *_, last = verdict_lines(verdict(1, 0, 10, decisive=Decisive(8, 20, 3000, None, None)))
    assert last == "About 20 launches in all should decide half of 8 of the undecided points, over 1000 nine in ten."
    *_, last = verdict_lines(verdict(1, 0, 10, decisive=Decisive(10, 2000, 3000, 1e5, 1e6)))
    assert last == "Over 1000 launches in all should decide half of the undecided points."


def test_of_few_undecided_points_it_is_told_what_decides_all() -> None:
    *_, last = verdict_lines(verdict(1, 0, 1, decisive=Decisive(1, 250, 250, 14.0, 14.0)))
    assert last == "About 250 launches in all (14 s more) should decide the undecided point."
    *_, last = verdict_lines(verdict(1, 0, 4, decisive=Decisive(4, 20, 250, None, None)))
    assert last == "About 250 launches in all should decide the undecided points."
    *_, last = verdict_lines(verdict(1, 0, 3, decisive=Decisive(1, 2000, 2000, None, None)))
    assert last == "Over 1000 launches in all should decide 1 of the undecided points."


def test_a_setting_for_all_calls_is_told_with_what_it_costs_elsewhere() -> None:
    setting = replace(LOSS, set_by="mpirun --mca a 2", elsewhere=Elsewhere(20, 12, 3.1))
    lines = verdict_lines(verdict(0, 1, 0, losses=(setting, replace(setting, best_label="timpani/binary"))))
    assert lines[3] == (
        "  chain is slower than the default at 12 of 20 other points, where it takes up to 3.10 × as long; "
        "`timpani tune` sets it for the winning sizes alone"
    )
    assert len(lines) == 6  # rules replace the calls that they win alone


def test_verdict_without_a_loss_or_a_comparison_says_so() -> None:
    assert verdict_lines(verdict(5, 0, 0))[1:] == ["No algorithm is significantly faster."]
    assert verdict_lines(verdict(0, 0, 0)) == [
        "Verdict: none; there is nothing that the default could be compared with."
    ]


def test_a_barriers_loss_has_no_size_and_an_unbounded_gain_no_interval() -> None:
    loss = replace(LOSS, collective="barrier", message_bytes=0, gain_low=None, gain_high=None)
    assert verdict_lines(verdict(0, 1, 0, losses=(loss,)))[1] == (
        "Largest gain: barrier on 8 ranks: chain is 2.50 × as fast."
    )


def test_too_few_launches_are_no_verdict() -> None:
    few = {"too_few_launches": 3, "launches_needed": 6}
    advice = "measure with --launches 6 or more"
    assert verdict_lines(verdict(0, 0, 3, **few, launches_advice=advice)) == [
        "Verdict: none yet; a comparison takes 6 launches: measure with --launches 6 or more."
    ]
    assert verdict_lines(verdict(0, 0, 3, **few)) == ["Verdict: none yet; a comparison takes 6 launches."]


def test_averages_are_answered_by_value() -> None:
    of_values = replace(verdict(0, 0, 0, losses=(LOSS,), by_value=42, within_by_value=31), decided=42)
    first, second = verdict_lines(of_values)
    assert first == (
        "Verdict by value alone (averages of a single run, no interval): of 42 points (collective, ranks, size) "
        "the default takes at most 5 % longer than the fastest at 31."
    )
    assert second.startswith("Largest gain by value: bcast at 64 KiB on 8 ranks: chain is 2.50 × as fast")


def test_a_verdict_on_collectives_waits_for_no_figures_and_no_models(campaign: Campaign) -> None:
    script = (
        "import sys; from pathlib import Path; from timpani.campaign.folder.load import load; "
        "from timpani.report.words.verdict_text import verdict_text; print(*verdict_text(load(Path(sys.argv[1])))); "
        "print({'altair', 'scipy', 'statsmodels'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", script, str(campaign.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "the default is" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"
