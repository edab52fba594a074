"""A right algorithm is verified and timed, a wrong one is drawn, and the grade sheet shows both."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import write_header, write_lines
from tests.cli.typed import typed
from tests.installed import needs_compiler
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.course.assignment import _RANKS, _SMALL, _TASKS, Assignment
from timpani.course.assignment_folder import write_folder
from timpani.course.grading import (
    MIN_WORDS,
    REPORT_POINTS,
    TIME_POINTS,
    VERIFIED_POINTS,
    TimedPoint,
    Verified,
    grade_sheet,
    measured_points,
    simulated_points,
)
from timpani.native.build import build_without_mpi
from timpani.native.crash import ResourceLimits
from timpani.native.sources import with_algorithms
from timpani.providers.own import read_own_catalogue
from timpani.study.cell import Algorithm, Cell

BCAST = next(each for each in map(Assignment.draw, range(200)) if each.name == "bcast/mine" and "nom" in each.reference)

ALLREDUCE = next(each for each in map(Assignment.draw, range(200)) if each.name == "allreduce/mine")

BINOMIAL_ROUND = """
    const int me = relative_rank(args, rank);
    const int distance = 1 << k;
    const Region whole{data_of(args, rank), 0, args.count};
    if (me < distance && me + distance < args.ranks) steps.send(absolute_rank(args, me + distance), whole);
    if (me >= distance && me < 2 * distance) steps.receive(absolute_rank(args, me - distance), whole);
}
"""


def sheet(folder: Path, status: int) -> dict[str, Any]:
    """The grade sheet that the command prints."""
    done = typed("course", "check", folder)
    assert done.returncode == status, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs_compiler
def test_a_mistake_in_a_collective_without_root_is_drawn(tmp_path: Path) -> None:
    write_folder(tmp_path, ALLREDUCE)
    file = tmp_path / "algorithms" / "allreduce_mine.cpp"
    file.write_text(file.read_text().replace("steps.reduce(received, sum)", "steps.copy(received, sum)"))
    wrong = sheet(tmp_path, 1)
    assert "has a wrong value" in wrong["mistake"]
    assert wrong["counterexample"] == str(tmp_path / "counterexample.svg")
    assert "has a wrong value" in (tmp_path / "counterexample.svg").read_text()


@needs_compiler
def test_a_student_begins_right_makes_a_mistake_and_gets_fast(tmp_path: Path) -> None:
    write_folder(tmp_path, BCAST)
    started = sheet(tmp_path, 0)
    assert (started["verified"], started["mistake"], started["todos"], started["simulated"]) == (True, None, 4, True)
    assert started["points"] == {"verified": VERIFIED_POINTS, "time": 0, "report": 0}

    file = tmp_path / "algorithms" / "bcast_mine.cpp"
    right = file.read_text()
    file.write_text(right.replace("0, args.count}", "0, args.count - 1}"))
    wrong = sheet(tmp_path, 1)
    assert "was never written" in wrong["mistake"]
    assert (wrong["total"], wrong["times"], wrong["counterexample"]) == (0, [], str(tmp_path / "counterexample.svg"))
    drawn = (tmp_path / "counterexample.svg").read_text()
    assert drawn.startswith("<svg")
    assert "was never written" in drawn

    begin = right.index("{\n", right.index("void round(")) + 1
    fast = right[:begin] + BINOMIAL_ROUND + right[right.index("\nconst Register") :]
    fast = fast.replace("return args.ranks - 1;", "return ceil_log2(args.ranks);")
    claims = ".claims = {.rounds = log_ranks, .max_sent = message_each_round, .max_neighbors = log_ranks}"
    file.write_text(re.sub(r"\.claims = {.*}", claims, fast))
    done = sheet(tmp_path, 0)
    assert done["mistake"] is None
    assert not (tmp_path / "counterexample.svg").exists()
    assert done["points"]["time"] >= 0.9 * TIME_POINTS


SEND = "    if (rank == args.root) steps.send("


@needs_compiler
@pytest.mark.parametrize(
    ("wrong", "mistake", "drawn"),
    [
        (SEND.replace("args.root", "args.root && k != 1"), "3 ranks, 1 elements", ("never ends", "waits forever")),
        (f"    if (k >= 0) return;\n{SEND}", "2 ranks, 1 elements", ("was never written", "0 ticks")),
    ],
)
def test_the_failing_call_is_drawn_if_ranks_wait_or_send_nothing(
    tmp_path: Path, wrong: str, mistake: str, drawn: tuple[str, ...]
) -> None:
    write_folder(tmp_path, BCAST)
    file = tmp_path / "algorithms" / "bcast_mine.cpp"
    file.write_text(file.read_text().replace(SEND, wrong))
    found = sheet(tmp_path, 1)
    assert found["mistake"].startswith(mistake)
    picture = Path(found["counterexample"]).read_text()
    assert [words for words in drawn if words not in picture] == []


CRASH = "    if (k == 2) __builtin_trap();\n    const int receiver ="


@needs_compiler
@pytest.mark.parametrize(
    ("right", "wrong", "mistake"),
    [
        ("#include <algorithm>", "int (;", "bcast_mine.cpp:8:6: error: expected"),
        ('.name = "mine"', '.name = "yours"', "bcast_mine.cpp registers no bcast/mine"),
        ("    const int receiver =", CRASH, "1 to 16 ranks: it ended the verifier: "),
        ("return args.ranks - 1;", "return std::int64_t{1} << 60;", "it ended the verifier: CPU time limit exceeded"),
    ],
)
def test_nonsense_has_a_grade_sheet_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, mistake: str
) -> None:
    monkeypatch.setattr("timpani.course.grading._LIMITS", ResourceLimits(processor_seconds=1, memory_bytes=4 << 30))
    write_folder(tmp_path, BCAST)
    file = tmp_path / "algorithms" / "bcast_mine.cpp"
    text = file.read_text()
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong))
    found = sheet(tmp_path, 1)
    assert mistake in found["mistake"]
    assert (found["verified"], found["total"], found["times"]) == (False, 0, [])


@needs_compiler
def test_the_reference_is_faster_than_the_start_in_every_assignment(tmp_path: Path) -> None:
    tasks = {(task.collective, task.reference): task for task in _TASKS}
    for collective in {task.collective for task in _TASKS}:
        assignment = Assignment(0, collective, "", "", (), ())
        for name, text in (assignment.start_file(), assignment.student_file()):
            (tmp_path / name).write_text(text)
    with with_algorithms(tmp_path):
        programs = build_without_mpi(None)
        own = read_own_catalogue(programs)
        for task in tasks.values():
            for ranks in _RANKS:
                sizes = (0,) if task.collective == "barrier" else (max(_SMALL), 64 << 10)
                assignment = Assignment(0, task.collective, task.reference, task.words, ranks, sizes)
                points = simulated_points(assignment, programs, own)
                assert len(points) == len(ranks) * len(sizes)
                assert any(point.share is not None for point in points), assignment
                assert all(point.share in (None, 0.0) for point in points), assignment


def test_a_point_is_between_start_and_reference() -> None:
    def share(mine: float, reference: float = 1.0) -> float | None:
        return TimedPoint.from_times(8, 8, mine, 100.0, reference).share

    assert share(100.0) == 0.0
    assert share(10.0) == pytest.approx(0.5)
    assert share(1.0) == 1.0
    assert share(0.5) == 1.0
    assert share(200.0) == 0.0
    assert share(10.0, reference=99.0) is None


def campaign_of(folder: Path, times: dict[str, float], sizes: tuple[int, ...] = (8,), spread: float = 0) -> Campaign:
    """A campaign of two launches whose times are `spread` below and above those given, as a share."""
    folder.mkdir()
    write_header(folder, study={}, machine={"name": "here"})
    results = [
        LaunchResult(
            Cell("bcast", Algorithm.parse(f"timpani/{name}"), 8, "core", size, "warm"),
            launch,
            "here",
            median_us=measured,
            ci_low_us=measured,
            ci_high_us=measured,
            oversubscribed=True,
        )
        for name, time in times.items()
        for launch, measured in ((1, time * (1 - spread)), (2, time * (1 + spread)))
        for size in sizes
    ]
    write_lines(folder / "results.jsonl", (each.as_line() for each in results))
    return load(folder)


def test_measured_times_are_graded_with_their_conditions(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path / "c", {"mine": 10.0, "start": 100.0, BCAST.reference: 1.0})
    points = measured_points(BCAST, campaign)
    [point] = points
    assert (point.ranks, point.message_bytes) == (8, 8)
    assert point.share == pytest.approx(0.5)
    graded = grade_sheet(BCAST, Verified(9, None, None), points, campaign, 0, MIN_WORDS)
    assert graded["points"] == {"verified": VERIFIED_POINTS, "time": TIME_POINTS // 2, "report": REPORT_POINTS}
    assert graded["total"] == VERIFIED_POINTS + TIME_POINTS // 2 + REPORT_POINTS
    assert (graded["simulated"], graded["oversubscribed"], graded["times_from"]) == (False, True, str(tmp_path / "c"))


def test_a_time_within_the_noise_of_the_start_earns_nothing(tmp_path: Path) -> None:
    times = {"mine": 95.0, "start": 100.0, BCAST.reference: 1.0}
    [noisy] = measured_points(BCAST, campaign_of(tmp_path / "noisy", times, spread=0.1))
    [quiet] = measured_points(BCAST, campaign_of(tmp_path / "quiet", times, spread=0.01))
    assert noisy.share == 0
    assert quiet.share == pytest.approx(0.0111, rel=0.01)


def test_the_report_names_figures_that_its_commands_draw(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", BCAST)
    times = {"mine": 10.0, "start": 100.0, BCAST.reference: 1.0}
    campaign_of(tmp_path / "c", times, sizes=(8, 64, 512))
    report = tmp_path / "a" / "report"
    done = typed("report", tmp_path / "c", "--figures", report / "figures")
    assert done.returncode == 0, done.stderr
    wanted = set(re.findall(r"\\includegraphics\[.*?\]{(figures/.*?)}", (report / "report.tex").read_text()))
    assert wanted
    assert not {name for name in wanted if not (report / name).is_file()}


def test_a_time_is_not_graded_where_the_reference_gains_nothing() -> None:
    graded = grade_sheet(BCAST, Verified(9, None, None), [TimedPoint.from_times(8, 8, 5.0, 4.0, 9.0)], None, 0, 0)
    assert graded["points"] == {"verified": VERIFIED_POINTS, "time": None, "report": 0}
    assert (graded["total"], graded["of"]) == (VERIFIED_POINTS, VERIFIED_POINTS + REPORT_POINTS)


def test_a_wrong_algorithm_gets_no_points_for_its_time() -> None:
    points = [TimedPoint.from_times(8, 8, 1.0, 100.0, 1.0)]
    graded = grade_sheet(BCAST, Verified(9, "2 ranks, 1 elements, root 0: wrong", None), points, None, 0, MIN_WORDS - 1)
    assert graded["points"] == {"verified": 0, "time": 0, "report": 0}
