"""`timpani confirm tuned -- PROGRAM` takes out the rules that make a program slower; the runs' times are injected."""

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_tune import made_up
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from tests.programs.injected_runs import InjectedRun, inject_runs
from timpani.programs.confirm import choice_of
from timpani.study.cell import Algorithm
from timpani.study.selection import Evidence, Rule, SelectionTable, Span
from timpani.tune.table_file import TABLE_FILE, read_table
from timpani.tune.workflow import files_of

pytestmark = needs_open_mpi

SIZE, RANKS = 1024, 2


def tuned(folder: Path, **of_rules: Any) -> Path:
    """A tuned folder with a rule for allreduce and one for bcast; `of_rules` are further fields of both."""
    mpi = OPEN_MPIS[0]
    campaign = made_up(folder.with_name("campaign"), mpi, {"default": 10.0, "linear": 5.0}, ranks=RANKS)
    rules = tuple(
        Rule(
            collective,
            Algorithm(mpi.kind, algorithm),
            ranks=Span(RANKS, RANKS),
            sizes=Span(SIZE, SIZE),
            evidence=(Evidence(SIZE, 2.0, 1.9, 2.1, 8),),
            **of_rules,
        )
        for collective, algorithm in (("allreduce", "recursive_doubling"), ("bcast", "linear"))
    )
    table = SelectionTable(mpi.kind, mpi.version, rules, source="test", campaigns=(str(campaign),))
    folder.mkdir()
    for name, text in files_of(table, mpi, folder).texts.items():
        (folder / name).write_text(text)
    return folder


def ruled(folder: Path) -> set[str]:
    """The collectives with a rule."""
    return {rule.collective for rule in read_table(folder / TABLE_FILE).rules}


def inject(monkeypatch: pytest.MonkeyPatch, run_of: Callable[[bool], InjectedRun]) -> None:
    """Runs of the given times, all disturbed by about 1 %."""
    noise = random.Random(1)

    def disturbed(chosen: bool) -> InjectedRun:
        run = run_of(chosen)
        factor = noise.gauss(1, 0.01)
        moving = {name: seconds * factor for name, seconds in run.moving.items()}
        return InjectedRun(run.seconds * factor, moving, run.waiting, run.printed)

    inject_runs(monkeypatch, disturbed)


def confirm(folder: Path, *options: str | Path) -> tuple[int, str, str]:
    done = typed("confirm", folder, "--mpi", str(OPEN_MPIS[0].mpirun), *options, "--", "./program")
    return done.returncode, done.stdout, done.stderr


def test_the_slower_collective_s_rules_are_taken_out_and_the_rest_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allreduce that a rule makes slow makes ranks late for the bcast, which its own rule makes faster."""
    folder = tuned(tmp_path / "tuned")

    def run_of(chosen: bool) -> InjectedRun:
        rules = ruled(folder) if chosen else set()
        moving = {"allreduce": 4.0 if "allreduce" in rules else 1.0, "bcast": 0.5 if "bcast" in rules else 1.0}
        waiting = {"bcast": 2.0 if "allreduce" in rules else 0.0}
        return InjectedRun(3 + sum(moving.values()) + sum(waiting.values()), moving, waiting)

    inject(monkeypatch, run_of)
    status, printed, _ = confirm(folder)
    lines = printed.splitlines()
    assert lines[0].startswith("the program is SLOWER with the choice")
    [taken] = (line for line in lines if line.startswith("taken out"))
    assert taken.startswith("taken out: 1 rule for allreduce, which is SLOWER without waiting: 0.2")
    assert lines[lines.index(taken) + 1].startswith("the program is faster with the choice")
    assert (status, ruled(folder)) == (0, {"bcast"})
    assert "recursive_doubling" not in (folder / "tuning.md").read_text()
    assert choice_of(folder, OPEN_MPIS[0]).texts
    assert {path.name for path in folder.glob("program-of-*")} == {"program-of-1", "program-of-2"}
    assert confirm(folder)[:2] == (0, "\n".join([*lines[lines.index(taken) + 1 :], ""]))


def test_all_rules_are_taken_out_where_no_collective_alone_is_slower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tuned(tmp_path / "tuned")
    inject(monkeypatch, lambda chosen: InjectedRun(6.0 if chosen else 5.0, {"allreduce": 1.0, "bcast": 1.0}))
    status, printed, _ = confirm(folder)
    assert status == 1
    assert "taken out: 2 rules, all that were switched on: no collective with a rule is significantly slower" in printed
    assert printed.splitlines()[-1] == "no rule is left: the library chooses as before"
    assert ruled(folder) == set()
    assert not (folder / "switch-on.sh").exists()
    assert "holds no rule" in confirm(folder)[2]


def test_rules_that_were_chosen_for_their_order_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tuned(tmp_path / "tuned", for_order=True)
    inject(monkeypatch, lambda chosen: InjectedRun(6.0 if chosen else 5.0, {"allreduce": 1.0, "bcast": 1.0}))
    status, printed, _ = confirm(folder)
    assert (
        printed.splitlines()[-1] == "its rules stay: they were chosen for their order of addition, not for their speed"
    )
    assert (status, ruled(folder)) == (1, {"allreduce", "bcast"})


@pytest.mark.parametrize(
    ("reordered", "said"),
    [
        (
            (SIZE,),
            "the files explain other last digits of sums: allreduce recursive_doubling, 2 ranks: changes the order",
        ),
        ((), "no rule changes an order of addition where it was measured: sums do not explain the difference"),
        (None, "whether allreduce then adds in another order, which would explain it, is unknown: `timpani tune"),
    ],
)
def test_whether_the_order_of_addition_explains_other_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reordered: tuple[int, ...] | None, said: str
) -> None:
    folder = tuned(tmp_path / "tuned", reordered=reordered)
    moving = {"allreduce": 1.0, "bcast": 1.0}
    inject(monkeypatch, lambda chosen: InjectedRun(4.0 if chosen else 5.0, moving, printed=f"1.{chosen:d}"))
    status, printed, _ = confirm(folder, "--same-output", "-")
    assert printed.splitlines()[-1].startswith(said)
    assert status == 1
    numbers = count()
    inject(monkeypatch, lambda chosen: InjectedRun(5.0, moving, printed=str(next(numbers))))
    printed = confirm(tuned(tmp_path / "again"), "--same-output", "-")[1]
    assert printed.splitlines()[-1].startswith("runs without the files differ too")
