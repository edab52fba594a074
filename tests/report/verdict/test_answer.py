"""The verdict in words: the answer, what to do, at most three warnings."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from timpani.campaign.folder.load import Campaign
from timpani.report.verdict.answer import NOTHING_TO_SET, brief_warnings, details, headline, more_warnings
from timpani.tuning.decide.gain_parts import competitor_noun
from timpani.tuning.decide.other_points import OtherPoints
from timpani.tuning.decide.verdict import DecisionForecast, DefaultRegret, Verdict

DEFAULT_REGRET = DefaultRegret("bcast", 8, "core", 65536, "warm", "here", "chain", 2.5, 2.25, 2.75)
BY_RULES = "timpani preload --rules FILE -- mpirun"


def verdict(within: int, slower: int, undecided: int, **values: Any) -> Verdict:
    given: dict[str, Any] = {"regrets": (), "sentences": (), "warnings": (), **values}
    return Verdict(within + slower + undecided, within, slower, undecided, **given)


def test_the_answer_comes_first() -> None:
    assert headline(verdict(59, 4, 21, regrets=(DEFAULT_REGRET,)))[0] == (
        "Verdict: your library's default is fine at 59 of 84 points; at 4 another algorithm is faster, up to 2.50 "
        "times; 21 are undecided."
    )
    assert headline(verdict(5, 0, 0)) == [
        "Verdict: your library's default is fine at 5 of 5 points.",
        "No algorithm is significantly faster.",
    ]


def test_the_answer_names_settings_where_settings_are_faster() -> None:
    answer, *_ = headline(verdict(5, 4, 0, regrets=(DEFAULT_REGRET,), winners="setting or algorithm"))
    assert "at 4 another setting or algorithm is faster" in answer
    assert headline(verdict(5, 0, 0, competitors="setting"))[1] == "No setting is significantly faster."


def test_the_answer_names_the_arrival_pattern() -> None:
    assert headline(verdict(5, 0, 0, arrivals=("one_late:1ms",)))[0] == (
        "Verdict where ranks enter one_late:1ms: your library's default is fine at 5 of 5 points."
    )


@pytest.mark.parametrize(
    ("labels", "noun"),
    [
        ([], "algorithm"),
        (["ring", "timpani/chain"], "algorithm"),
        (["default@eager", "default@no-vader"], "setting"),
        (["default@eager", "ring"], "setting or algorithm"),
        (["ring@eager"], "setting or algorithm"),
    ],
)
def test_competitors_are_called_by_what_they_change(labels: list[str], noun: str) -> None:
    assert competitor_noun(labels) == noun


def test_the_largest_gain_is_called_a_maximum_over_points() -> None:
    _, about, gain = headline(verdict(40, 5, 18, regrets=(DEFAULT_REGRET,)))
    assert about == (
        "Largest gain (the largest of 63 points, so probably somewhat overestimated; `timpani confirm` measures it "
        "again):"
    )
    assert gain == "  bcast at 64 KiB on 8 ranks: chain, 2.50 times as fast (95 % interval 2.25 to 2.75)"
    assert headline(verdict(0, 1, 0, regrets=(DEFAULT_REGRET,)))[1] == "Largest gain (of the only point):"


def test_a_gain_of_a_race_has_two_bounds_of_95_percent_each_and_was_corrected() -> None:
    _, about, gain = headline(verdict(40, 5, 18, regrets=(replace(DEFAULT_REGRET, raced=True),)))
    assert about == "Largest gain (the largest of 63 points, partly corrected for that choice):"
    assert gain.endswith("chain, 2.50 times as fast (bounds of 95 % each: 2.25 to 2.75)")


def test_at_most_three_gains_come_with_what_switches_their_algorithm_on() -> None:
    own = replace(DEFAULT_REGRET, collective="reduce", best_label="timpani/binary", set_by=BY_RULES)
    regrets = (
        replace(DEFAULT_REGRET, set_by="mpirun --mca coll_tuned_bcast_algorithm 2"),
        own,
        *[replace(DEFAULT_REGRET)] * 2,
    )
    _, about, worst, how, following, rules, *rest = headline(verdict(0, 4, 0, regrets=regrets))
    assert about.startswith("Largest gains (the first is the largest of 4 points, ")
    assert worst.startswith("  bcast at 64 KiB")
    assert how == "    in all calls of bcast: mpirun --mca coll_tuned_bcast_algorithm 2 …"
    assert following.startswith("  reduce at 64 KiB on 8 ranks: timpani/binary, 2.50 times as fast")
    assert rules == f"    by rules (`timpani rules`): {BY_RULES} …"
    assert len(rest) == 1


def test_all_names_of_one_schedule_are_named() -> None:
    gain = headline(verdict(0, 1, 0, regrets=(replace(DEFAULT_REGRET, schedule="chain = linear"),)))[2]
    assert gain.startswith("  bcast at 64 KiB on 8 ranks: chain = linear, 2.50 times")


def test_a_gain_at_the_eager_limit_says_so() -> None:
    limits = {65536: "btl_tcp_eager_limit", 4096: "btl_vader_eager_limit"}
    lines = headline(verdict(0, 1, 0, regrets=(DEFAULT_REGRET,)), limits)
    assert lines[3] == (
        "    64 KiB is the library's btl_tcp_eager_limit: a whole message waits for its receiver, smaller pieces do not"
    )


def test_settings_that_were_not_recorded_are_reported_as_such() -> None:
    *_, last = headline(verdict(0, 1, 0, regrets=(DEFAULT_REGRET,), settings_recorded=False))
    assert last == "How to switch an algorithm on is not recorded: the campaign was imported."


def test_undecided_points_come_with_the_launches_and_the_command_that_decide_them() -> None:
    command = "timpani run demo -o demo --launches 300"
    *_, last, how = headline(
        verdict(1, 0, 10, forecast=DecisionForecast(10, 20, 300, 14.0, 294.0), decide_command=command)
    )
    half, most = "20 launches in total (14 s more)", "300 (4 min 54 s more)"
    assert last == f"Half of the undecided points would probably be decided after {half}, 90 % after {most}."
    assert how == f"  {command}"
    *_, last = headline(verdict(1, 0, 10, forecast=DecisionForecast(8, 20, 3000, None, None)))
    assert last == (
        "Half of 8 of the undecided points would probably be decided after 20 launches in total, "
        "90 % after more than 1000."
    )
    *_, last = headline(verdict(1, 0, 10, forecast=DecisionForecast(10, 2000, 3000, 1e5, 1e6)))
    assert last == "Half of the undecided points would probably be decided after more than 1000 launches in total."


def test_of_few_undecided_points_all_are_to_be_decided() -> None:
    *_, last = headline(verdict(1, 0, 1, forecast=DecisionForecast(1, 250, 250, 14.0, 14.0)))
    assert last == "The undecided point would probably be decided after 250 launches in total (14 s more)."
    *_, last = headline(verdict(1, 0, 4, forecast=DecisionForecast(4, 20, 250, None, None)))
    assert last == "The undecided points would probably be decided after 250 launches in total."
    *_, last = headline(verdict(1, 0, 3, forecast=DecisionForecast(1, 2000, 2000, None, None)))
    assert last == "1 of the undecided points would probably be decided after more than 1000 launches in total."


def test_a_setting_for_all_calls_comes_with_where_it_is_slower() -> None:
    setting = replace(DEFAULT_REGRET, set_by="mpirun --mca a 2", at_other_points=OtherPoints(20, 12, 3.1))
    lines = headline(verdict(0, 1, 0, regrets=(setting, replace(setting, best_label="timpani/binary"))))
    assert lines[4] == "    but slower than the default at 12 of the 20 other points, by up to 3.10 times"
    assert lines[7] == "  `timpani tune` applies each only at the sizes at which it is faster."
    assert len(lines) == 8  # rules replace the calls that they win alone


def test_a_verdict_without_a_comparison_says_so() -> None:
    assert headline(verdict(0, 0, 0)) == ["Verdict: none; there is nothing that the default could be compared with."]


def test_a_barriers_loss_has_no_size_and_an_unbounded_gain_no_interval() -> None:
    loss = replace(DEFAULT_REGRET, collective="barrier", message_bytes=0, gain_low=None, gain_high=None)
    assert headline(verdict(0, 1, 0, regrets=(loss,)))[2] == "  barrier on 8 ranks: chain, 2.50 times as fast"


def test_too_few_launches_are_no_verdict() -> None:
    few = {"too_few_launches": 3, "launches_needed": 6}
    advice = "measure with --launches 6 or more"
    assert headline(verdict(0, 0, 3, **few, launches_advice=advice)) == [
        "Verdict: none yet; a comparison takes 6 launches: measure with --launches 6 or more."
    ]
    assert headline(verdict(0, 0, 3, **few)) == ["Verdict: none yet; a comparison takes 6 launches."]


def test_averages_are_answered_by_value() -> None:
    of_values = replace(verdict(0, 0, 0, regrets=(DEFAULT_REGRET,), by_value=42, within_by_value=31), decided=42)
    first, second = headline(of_values)
    assert first == (
        "Verdict by value alone (averages of a single run, no interval): your library's default takes at most 5 % "
        "longer than the fastest at 31 of 42 points."
    )
    assert second.startswith("Largest gain by value (the largest of 42 points, so probably somewhat overestimated; ")


def test_details_name_each_operation_and_the_false_alarms_to_expect() -> None:
    sentence, about, alarms = details(verdict(40, 5, 39, regrets=(DEFAULT_REGRET,), sentences=("bcast, 84 points: …",)))
    assert sentence == "  bcast, 84 points: …"
    assert "at most 5 % slower than the fastest algorithm" in about
    assert alarms.startswith(
        "False alarms: on average the default is wrongly called slower at no more than 5 % of the points"
    )
    assert "here 4.2 of 84" in alarms


def test_three_warnings_are_printed_in_short_and_the_others_counted() -> None:
    warnings = ("a; measure again", "b", "c", "d", "e")
    assert brief_warnings(warnings) == ["Warning: a", "Warning: b", "Warning: c"]
    assert (more_warnings(warnings), more_warnings(warnings[:3])) == ("2 more warnings", "")


def test_a_verdict_on_collectives_waits_for_no_figures_and_no_models(campaign: Campaign) -> None:
    script = (
        "import sys; from pathlib import Path; from timpani.campaign.folder.load import load; "
        "from timpani.report.verdict.verdict_text import verdict_text; print(*verdict_text(load(Path(sys.argv[1])))); "
        "print({'altair', 'scipy'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", script, str(campaign.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "default is fine at" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_simulation_has_nothing_to_set_and_nothing_significant() -> None:
    costs = replace(DEFAULT_REGRET, gain_low=None, gain_high=None, at_other_points=OtherPoints(20, 12, 3.1))
    simulated = verdict(40, 5, 18, regrets=(costs, costs), simulated=True)
    lines = [*headline(simulated), *details(simulated)]
    assert lines[:4] == [
        "Verdict: the simulated default is fine at 40 of 63 points; at 5 another algorithm is faster, up to 2.50 "
        "times; 18 are undecided.",
        "Largest gains (the first is the largest of 63 points):",
        "  bcast at 64 KiB on 8 ranks: chain, 2.50 times as fast",
        "    but slower than the default at 12 of the 20 other points, by up to 3.10 times",
    ]
    assert NOTHING_TO_SET in lines
    for word in ("significant", "timpani tune", "timpani confirm", "overestimated", "False alarms", "all calls"):
        assert word not in " ".join(lines)
    assert headline(verdict(5, 0, 0, simulated=True))[1] == "No algorithm is over 3 % faster."
