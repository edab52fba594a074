"""Runs in blocks, of injected times: what is significant, and which outputs are the same."""

import sys
from itertools import cycle
from pathlib import Path

import pytest

from tests.programs.injected_runs import InjectedRun, inject_runs
from timpani.errors import UserError
from timpani.programs.confirm import comparison_lines
from timpani.programs.runs.block_runs import (
    AS_IT_IS,
    CHOSEN,
    PRINTED,
    BlockRuns,
    Choice,
    ComparedOutput,
    ProgramComparison,
    judge_words,
)
from timpani.study.defaults import MIN_BLOCKS

COMMAND = ("mpirun", "./program")
TOLERANT = """
import sys
first, other = (float(open(name).read()) for name in sys.argv[2:])
sys.exit(abs(first - other) > float(sys.argv[1]))
"""


def blocks_of(folder: Path, output: ComparedOutput | None = None, blocks: int = MIN_BLOCKS) -> BlockRuns:
    runs = BlockRuns(folder, COMMAND, Choice({}, None), output)
    list(runs.complete(blocks))
    return runs


def compared(folder: Path, blocks: int = MIN_BLOCKS) -> ProgramComparison:
    return blocks_of(folder, blocks=blocks).comparison()


def test_fewer_blocks_than_a_verdict_takes_give_a_ratio_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject_runs(monkeypatch, lambda chosen: InjectedRun(20.0 if chosen else 10.0))
    found = compared(tmp_path / "runs", MIN_BLOCKS - 1)
    assert {found.wall.standing, found.by_collective["allreduce"].standing} == {"undecided"}
    first, *_ = comparison_lines(found)
    assert "not yet known to be faster or slower" in first
    assert f"0.500 × as fast ({MIN_BLOCKS - 1} blocks, too few: a verdict takes {MIN_BLOCKS})" in first
    assert compared(tmp_path / "runs").wall.standing == "slower"  # the missing block is added


def test_each_collective_is_compared_without_its_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_of(chosen: bool) -> InjectedRun:
        moving = {"allreduce": 2.0, "bcast": 1.0} if chosen else {"allreduce": 1.0, "bcast": 1.0, "barrier": 0.1}
        return InjectedRun(10.0, moving, {"bcast": 1.0 if chosen else 0.0})

    inject_runs(monkeypatch, run_of)
    found = compared(tmp_path / "runs")
    assert {name: each.ratio for name, each in found.by_collective.items()} == pytest.approx(
        {"allreduce": 0.5, "bcast": 1.0}
    )
    assert found.collectives is not None
    assert found.collectives.ratio == pytest.approx(2.1 / 4.0)


def test_runs_of_a_rewritten_tuning_file_are_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject_runs(monkeypatch, lambda _: InjectedRun(1.0))
    before, after = (Choice({"FILE": "tuned.conf"}, None, texts={"tuned.conf": text}) for text in ("1\n", "2\n"))
    list(BlockRuns(tmp_path / "runs", COMMAND, before).complete(1))
    assert len(BlockRuns(tmp_path / "runs", COMMAND, before).runs) == 2
    with pytest.raises(UserError, match="runs of other tuning files"):
        BlockRuns(tmp_path / "runs", COMMAND, after)


def energies(monkeypatch: pytest.MonkeyPatch, *chosen: str) -> None:
    """Runs that print 1.000 without the choice, and what is `chosen` with it."""
    printed = cycle(chosen)
    inject_runs(monkeypatch, lambda choice: InjectedRun(1.0, printed=next(printed) if choice else "1.000"))


def test_an_output_of_other_bytes_differs_without_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    energies(monkeypatch, "1.000", "1.001")
    found = blocks_of(tmp_path / "runs", ComparedOutput(PRINTED), 4).comparison()
    first, *others = found.different_outputs
    assert (first.side, [(run.side, run.block) for run in others]) == (AS_IT_IS, [(CHOSEN, 2), (CHOSEN, 4)])
    line = list(comparison_lines(found))[-1]
    assert "the output of block 4 with the choice differs from the first" in line
    assert [(tmp_path / "runs" / run.kept_output).read_text() for run in found.different_outputs] == [
        "1.000",
        "1.001",
        "1.001",
    ]


def test_a_judge_with_a_tolerance_decides_about_kept_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    energies(monkeypatch, "1.001", "1.020")
    judge = tmp_path / "a judge.py"
    judge.write_text(TOLERANT)
    differing = {}
    for tolerance in ("0", "0.01", "0.1"):
        words = judge_words(f"{sys.executable} '{judge}' {tolerance}")
        runs = blocks_of(tmp_path / "runs", ComparedOutput(PRINTED, words), 2)
        differing[tolerance] = [run.block for run in runs.comparison().different_outputs[1:]]
    assert differing == {"0": [1, 2], "0.01": [2], "0.1": []}
    assert sum(1 for _ in (tmp_path / "runs" / "outputs").iterdir()) == 3


def test_a_judge_that_fails_is_one_line_and_the_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    energies(monkeypatch, "1.001")
    for command, said in (
        (f"{sys.executable} -c 'print(\"no column 3\"); raise SystemExit(2)'", "with status 2 .*: no column 3"),
        ("sh -c 'kill -9 $$'", "with status -9"),
    ):
        runs = blocks_of(tmp_path / "runs", ComparedOutput(PRINTED, judge_words(command)), 1)
        with pytest.raises(UserError, match=said):
            runs.comparison()
    assert len(blocks_of(tmp_path / "runs", ComparedOutput(PRINTED), 1).runs) == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [("no-such-judge --strict", "names no command"), ("", "names no command"), ("cmp 'x", "can't be split into words")],
)
def test_a_judge_that_cannot_start_is_refused(command: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        judge_words(command)
