"""`timpani predict` on a campaign whose times are what known costs say."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tools.reference import described_keys

from tests.campaign_files import write_header, write_lines
from tests.cli.typed import typed
from tests.installed import FOUND, needs_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import CostLine, Costs, NotSimulated, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

pytestmark = needs_mpi

COSTS = Costs(copied=0.0004, rest=0.5, messages=((CostLine(0, 0.3, 0.0005, 1.0),),))
ALGORITHMS = ("linear", "binomial", "pipeline", "scatter_allgather")
SIZES = (8, 1024, 65536)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Broadcasts at 2 to 16 ranks of one node, two launches."""
    cells = list(product(ALGORITHMS, (2, 4, 8, 16), SIZES))
    calls = [SimulatedCall("bcast", Algorithm(OWN, name), ranks, size) for name, ranks, size in cells]
    times = Simulator(build_without_mpi(FOUND[0])).times(calls, COSTS)
    lines: list[dict[str, Any]] = [
        {
            "collective": "bcast",
            "provider": OWN,
            "variant": "default",
            "algorithm": name,
            "parameters": "",
            "ranks": ranks,
            "placement": "core",
            "message_bytes": size,
            "mode": "warm",
            "arrival": "together",
            "launch": launch,
            "machine": "desk",
            "median_us": time * (1 + launch / 100),
        }
        for (name, ranks, size), time in zip(cells, times, strict=True)
        for launch in (1, 2)
        if not isinstance(time, NotSimulated)
    ]
    return write(tmp_path_factory.mktemp("measured"), lines)


def write(folder: Path, lines: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    write_header(folder)
    write_lines(folder / "results.jsonl", lines)
    return folder


def test_more_ranks_are_predicted_with_intervals_that_hold(measured: Path, tmp_path: Path) -> None:
    twice = "binomial,linear,linear,pipeline:segment_bytes=4096"  # one of them, which is predicted once
    asked = ("--ranks", "64,1024", "--sizes", "8,64Ki", "--algorithms", twice)
    done = typed("predict", "bcast", "--costs", measured, *asked, "--format", "json", "-o", tmp_path / "page")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    parts = {"": found | {"checksum": ""}, " of `costs`": found["costs"], " of a prediction": found["predictions"][0]}
    for kind, part in parts.items():
        assert part.keys() == described_keys("predictions-json", f"key{kind}")
    assert found["status"] == "predicted"
    calls = [
        SimulatedCall(
            "bcast",
            Algorithm.parse(f"{OWN}/{row['algorithm']}{':' * bool(row['parameters'])}{row['parameters']}"),
            row["ranks"],
            row["message_bytes"],
        )
        for row in found["predictions"]
    ]
    true = Simulator(build_without_mpi(FOUND[0])).times(calls, COSTS)
    assert len(true) == 3 * 2 * 2
    for row, time in zip(found["predictions"], true, strict=True):
        assert not isinstance(time, NotSimulated)
        assert row["low_us"] <= 1.015 * time <= row["high_us"], row
        kinds = ("latency", "bandwidth", "overhead", "reduction", "copying", "rest")
        assert sum(row[f"{kind}_share"] for kind in kinds) == pytest.approx(1)
    fastest = {(row["ranks"], row["message_bytes"]): row["label"] for row in found["winners"]}
    assert fastest[1024, 8] == "timpani/binomial"
    assert any("as close to each other" in text for text in found["conditions"])
    page = (tmp_path / "page" / "index.html").read_text()
    assert "Predicted, not measured" in page
    assert "<svg" in page
    assert ("Hatched: others may be as fast" in page) == any(len(row["tied"]) > 1 for row in found["winners"])
    assert (tmp_path / "page" / "bcast.svg").exists()
    again = typed("predict", "bcast", "--costs", measured, *asked, "-o", tmp_path / "page")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)


def test_a_time_far_from_all_that_was_measured_is_called_a_guess(measured: Path, tmp_path: Path) -> None:
    lines = [
        line for line in map(json.loads, (measured / "results.jsonl").read_text().splitlines()) if line["ranks"] == 2
    ]
    for line in lines:  # as no costs explain
        line["oversubscribed"] = True
        line["median_us"] *= {"linear": 1.3, "pipeline": 0.8}.get(line["algorithm"], 1.0)
    few = write(tmp_path / "two", lines)
    asked = ("bcast", "--ranks", "2,1Mi", "--sizes", "64Ki", "--algorithms", "binomial", "--costs", few)
    done = typed("predict", *asked, "--budget", "10m")  # how busy the machine is has no influence
    assert done.returncode == 0, done.stderr
    assert "Oversubscribed: the runs with 2 ranks had more ranks than cores" in done.stdout
    assert "at 2 ranks, 8 to 65536 B" in done.stdout
    assert "Measured at 2 ranks only: how intervals widen with more is assumed" in done.stdout
    assert "1 of 2 times is a guess" in done.stdout
    (near, far) = (line.split() for line in done.stdout.splitlines() if line.endswith("timpani/binomial"))
    assert "?" not in near
    assert far[0] == "1048576"
    assert far.count("?") == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("bcast", "--ranks", "four"), "'four' is not a rank count"),
        (("bcast", "--ranks", "0,4"), "a call has 1 rank or more"),
        (("broadcast", "--ranks", "4"), "unknown collective"),
        (("bcast", "--ranks", "4", "--algorithms", "binomal"), "did you mean"),
        (("bcast", "--ranks", "4", "--on", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_an_impossible_prediction_is_refused_in_one_line(measured: Path, asked: tuple[str, ...], said: str) -> None:
    done = typed("predict", *asked, "--costs", measured)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_an_error_names_what_to_measure_for_missing_costs(tmp_path: Path, measured: Path) -> None:
    line = json.loads((measured / "results.jsonl").read_text().splitlines()[0]) | {"provider": "openmpi"}
    done = typed("predict", "bcast", "--costs", write(tmp_path, [line]), "--ranks", "4")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "timpani run latency reduce_local" in done.stderr


def test_a_backtest_hides_the_larger_rank_counts(measured: Path) -> None:
    done = typed("predict", "--backtest", measured, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {(row["known"], row["hidden"]) for row in rows} == {(2, 4), (2, 8), (2, 16), (4, 8), (4, 16), (8, 16)}
    table = typed("predict", "--backtest", measured).stdout
    assert "measured time × growth of the schedule; hedged choice" in table
    both = typed("predict", "bcast", "--backtest", measured)
    assert (both.returncode, both.stderr.count("\n")) == (2, 1), both.stderr


def test_a_prediction_is_the_measured_time_times_the_growth(measured: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (measured / "results.jsonl").read_text().splitlines() if "median_us" in line]
    for line in lines:
        line["median_us"] *= 1.5 if line["algorithm"] == "linear" else 1
    odd = write(tmp_path / "odd", [{key: line[key] for key in lines[0]} for line in lines])
    asked = ("--ranks", "32", "--sizes", "8", "--algorithms", "linear,binomial", "--format", "json")
    usual, slower = (
        {row["algorithm"]: row["predicted_us"] for row in json.loads(done.stdout)["predictions"]}
        for done in (typed("predict", "bcast", "--costs", folder, *asked) for folder in (measured, odd))
    )
    assert slower["linear"] / usual["linear"] == pytest.approx(1.5, rel=0.1)
    assert slower["binomial"] / usual["binomial"] == pytest.approx(1, rel=0.1)
