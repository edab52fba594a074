"""The verdict: the answer, what to do, at most three warnings."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from timpani.campaign.folder.load import Campaign
from timpani.judge.other_points import OtherPoints
from timpani.judge.verdict import DecisionForecast, DefaultRegret, Verdict
from timpani.report.document.blocks import Document
from timpani.report.document.text import text_of
from timpani.report.verdict.answer import (
    answer_blocks,
    answer_sentence,
    definitions,
    how_sure,
)

DEFAULT_REGRET = DefaultRegret("bcast", 8, "core", 65536, "warm", "here", "chain", 2.5, 2.25, 2.75)
BY_RULES = "timpani preload --rules FILE -- mpirun"


def verdict(within: int, slower: int, undecided: int, **values: Any) -> Verdict:
    given: dict[str, Any] = {"regrets": (), "sentences": (), "warnings": (), **values}
    return Verdict(within + slower + undecided, within, slower, undecided, **given)


def answered(found: Verdict, limits: dict[int, str] | None = None) -> Document:
    return Document("", tuple(answer_blocks(found, limits)))


def names(document: Document) -> list[str]:
    return [block.name for block in document.blocks]


def test_the_answer_counts_points_and_the_largest_gain() -> None:
    found = answered(verdict(59, 4, 21, regrets=(DEFAULT_REGRET,)))
    assert found["answer"].text == (
        "Verdict: your library's default is fine at 59 of 84 points; at 4 another algorithm is faster, up to 2.50 "
        "times; 21 are undecided."
    )
    assert found["answer"].values == {"fine": 59, "slower": 4, "undecided": 21, "points": 84}
    assert names(found) == ["answer", "largest_gains", "gain"]
    assert found["gain"].text == "bcast at 64 KiB on 8 ranks: chain, 2.50 times as fast (95 % interval 2.25 to 2.75)"
    assert found["gain"].values == {"collective": "bcast", "best": "chain", "gain": 2.5}
    assert names(answered(verdict(5, 0, 0))) == ["answer", "no_gain"]
    assert answered(verdict(0, 0, 4))["answer"].text == "Verdict: undecided at all 4 points."


def test_at_most_three_gains_come_with_what_switches_their_algorithm_on() -> None:
    setting = replace(DEFAULT_REGRET, set_by="mpirun --mca a 2", at_other_points=OtherPoints(20, 12, 3.1))
    own = replace(setting, best_label="timpani/binary", set_by=BY_RULES)
    unknown = [replace(DEFAULT_REGRET, collective=name) for name in ("reduce", "scatter")]
    found = answered(verdict(0, 4, 0, regrets=(setting, own, *unknown)))
    shown = ["gain", "setting", "elsewhere", "gain", "setting", "gain", "tune"]
    assert names(found)[2:] == shown, "rules replace the calls that they win alone"
    assert [block.text for block in found.with_name("setting")] == [
        "in all calls of bcast: mpirun --mca a 2 …",
        f"by rules (`timpani rules`): {BY_RULES} …",
    ]
    assert found["elsewhere"].values == {"points": 20, "slower": 12, "factor": 3.1}
    assert found["setting"].depth == found["gain"].depth + 1 == 2


@pytest.mark.parametrize(
    ("undecided", "forecast", "text"),
    [
        (
            10,
            DecisionForecast(10, 20, 300, done=10, seconds=1.0, spread=(0.6, 2.0)),
            "Half of the undecided points would probably be decided after 12 to 40 launches in one run (12 s to 40 s).",
        ),
        (
            3,
            DecisionForecast(1, 2000, 2000),
            "1 of the undecided points would probably be decided after more than 1000 launches in one run.",
        ),
    ],
)
def test_undecided_points_come_with_the_launches_and_the_command_that_decide_them(
    undecided: int, forecast: DecisionForecast, text: str
) -> None:
    command = "timpani run demo -o demo --launches 300"
    found = answered(verdict(1, 0, undecided, forecast=forecast, decide_command=command))
    assert found["would_decide"].text == text
    assert found["decide"].command == command


def test_too_few_launches_or_no_comparison_are_no_verdict() -> None:
    assert "nothing that the default could be compared with" in answer_sentence(verdict(0, 0, 0))
    few = {"too_few_launches": 3, "launches_needed": 6}
    advice = "measure with --launches 6 or more"
    assert answer_sentence(verdict(0, 0, 3, **few, launches_advice=advice)) == (
        "Verdict: none yet; a comparison takes 6 launches: measure with --launches 6 or more."
    )


def test_averages_are_answered_by_value() -> None:
    of_values = replace(verdict(0, 0, 0, regrets=(DEFAULT_REGRET,), by_value=42, within_by_value=31), decided=42)
    found = answered(of_values)
    assert found["answer"].values["fine"] == 31
    assert "by value alone" in found["answer"].text
    assert found["gain"].text.startswith("Largest gain by value (the largest of 42 points, ")
    assert not [*definitions(of_values), *how_sure(of_values)]


def test_a_verdict_on_collectives_waits_for_no_figures_and_no_models(campaign: Campaign) -> None:
    script = (
        "import sys; from pathlib import Path; from timpani.campaign.folder.load import load; "
        "from timpani.report.document.text import text_of; "
        "from timpani.report.verdict.verdict_text import verdict_document; "
        "print(text_of(verdict_document(load(Path(sys.argv[1]))).blocks)); "
        "print({'altair', 'scipy'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", script, str(campaign.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "default is fine at" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_simulation_has_nothing_to_set_and_nothing_significant() -> None:
    costs = replace(DEFAULT_REGRET, gain_low=None, gain_high=None, at_other_points=OtherPoints(20, 12, 3.1))
    simulated = verdict(40, 5, 18, regrets=(costs, costs), simulated=True)
    found = answered(simulated)
    assert names(found) == ["answer", "largest_gains", "gain", "elsewhere", "gain", "elsewhere", "nothing_to_set"]
    text = text_of(found.blocks) + " ".join(how_sure(simulated))
    for word in ("significant", "timpani tune", "timpani confirm", "overestimated", "False alarms", "all calls"):
        assert word not in text
    assert answered(verdict(5, 0, 0, simulated=True))["no_gain"].text == "No algorithm is over 5 % faster."
