"""`timpani verdict`: the answer again, and as data."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tools.reference import described_keys

from tests.cli.typed import typed
from tests.report.conftest import synthetic_header, synthetic_launches, synthetic_results, write_campaign

SETTING = "mpirun --mca coll_tuned_bcast_algorithm 8"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    header = synthetic_header() | {"settings": {"bcast": {"scatter_allgather": SETTING}}}
    busy = {"host": "desk", "cores": 4, "seconds": 3.0, "busy_s": 9.0, "own_s": 3.0, "steal_s": 0.0}
    launches = [launch | {"machines": [busy]} for launch in synthetic_launches()]
    return write_campaign(tmp_path_factory.mktemp("verdict") / "c", header, synthetic_results(), launches)


@pytest.fixture(scope="module")
def verdict(folder: Path) -> Any:
    return json.loads(typed("verdict", folder, "--format", "json").stdout)


def test_the_text_answers_first_and_warns_in_three_lines(folder: Path) -> None:
    first, *rest = typed("verdict", folder).stdout.splitlines()
    assert re.match(r"Verdict: your library's default is fine at \d+ of 72 points; ", first)
    assert f"    in all calls of bcast: {SETTING} …" in rest
    assert rest[0].startswith("This machine was too busy to decide more: other programs used 2.0 of 4 cores. ")
    warnings = [line for line in rest if line.startswith("Warning: ")]
    assert not [line for line in warnings if "load" in line]
    assert len(warnings) == 3
    command = f"timpani verdict {folder} --details"
    assert rest[-1] == f"Details (each operation, how sure this is, 3 more warnings): {command}"


def test_given_margins_decide_and_are_named(folder: Path, verdict: Any) -> None:
    command = ("verdict", folder, "--equivalence", "60%", "--indifference", "0.5")
    lenient = json.loads(typed(*command, "--format", "json").stdout)
    assert lenient["margins"] == {"indifference": 0.5, "equivalence": 0.6}
    assert lenient["equivalent"] > verdict["equivalent"]
    assert lenient["slower"] < verdict["slower"]
    answer, margins, *_, details = typed(*command).stdout.splitlines()
    assert f"is fine at {lenient['equivalent']} of 72 points" in answer
    assert "from 50 % on (usually 3 %)" in margins
    assert "at most 60 % slower than the fastest (usually 5 %)" in margins
    assert details.endswith(f"timpani verdict {folder} --details --equivalence 60% --indifference 50%")
    one = typed("verdict", folder, "--equivalence", "20%").stdout
    assert "By the margins given: a default is fine at most 20 % slower than the fastest (usually 5 %).\n" in one
    refused = typed("verdict", folder, "--indifference", "6%")
    assert refused.returncode == 2
    assert "between 5 % and 6 % slower than the fastest would be neither fine nor slower" in refused.stderr


def test_every_key_is_documented_and_no_other(verdict: Any) -> None:
    assert verdict.keys() == described_keys("verdict-json", "key")
    for point in verdict["points"]:
        assert point.keys() == described_keys("verdict-json", "key of a point")


def test_the_head_counts_what_the_points_say(verdict: Any) -> None:
    points = verdict["points"]
    for standing in ("equivalent", "slower", "undecided"):
        assert verdict[standing] == sum(point["standing"] == standing for point in points) > 0
    assert verdict["compared"] == len(points) == 72
    (load,) = verdict["load"]
    assert (load["host"], load["others"], load["is_disturbing"]) == ("desk", 2.0, True)
    assert verdict["warnings"][0].startswith("measured under load")
    assert verdict["settings_recorded"]


def test_a_point_has_its_ratio_with_an_interval_and_what_switches_the_best_on(verdict: Any) -> None:
    slower = [point for point in verdict["points"] if point["standing"] == "slower" and point["collective"] == "bcast"]
    for point in slower:
        assert point["ratio_low"] <= point["ratio"] <= point["ratio_high"]
        assert (point["launches"], point["launches_needed"]) == (6, 6)
        assert point["setting"] == (SETTING if point["best"] == "scatter_allgather" else None)
    assert {point["best"] for point in slower} >= {"scatter_allgather"}
    undecided = [point for point in verdict["points"] if point["standing"] == "undecided"]
    assert all(point["launches_to_decide"] > 6 for point in undecided if point["launches_to_decide"])
