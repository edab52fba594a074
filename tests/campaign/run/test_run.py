"""Campaigns on real ranks, some of which hang, die or can't start."""

import os
import resource
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign.budget import CountedStarts, run_on_counted_starts
from tests.campaign.live import Live, gone, in_first_cell, keys, ranks_of, results, starts, timpani, wait_until
from tests.cli.typed import typed
from tests.installed import FOUND, MPICHS, each_kind, needs_mpi, needs_mpich, needs_two_cores
from timpani.campaign.folder.store import Store
from timpani.campaign.run import launch
from timpani.campaign.run.run import Runner
from timpani.campaign.run.session import Session
from timpani.cli.terminal.measuring import stopped_status
from timpani.errors import UserError
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.compose import compose
from timpani.study.study import Study

pytestmark = [needs_mpi, needs_two_cores]

# Three cells in one launch, in an order that the seed makes: 1000 repetitions of a large one take long enough for it to
# be met under way, those of the others no time.
PRECISE = ("bcast", "--algorithms", "default", "--slot", "500ms", "--precision", "0.00001")
# A thousand repetitions of 64 MiB take some ten seconds: long enough to be harmed on a busy machine.
LONG = (*PRECISE, "--sizes", "64M,72M,80M")
LONG_FIRST = (*PRECISE, "--sizes", "8,16,8M", "--seed", "8")
UNTIL_HARMED = (*PRECISE, "--sizes", "8,16,64M", "--seed", "8", "--launches", "1", "--slot", "60s")
LONG_LAST = (*PRECISE, "--sizes", "8,64M,72M", "--seed", "5", "--slot", "3s")
SHORT = ("bcast", "--algorithms", "default", "--sizes", "8,16,32", "--slot", "2ms")


class StoppedRanks:
    """A clock that stops a rank in the first cell of each of `harmed` launches, and runs only while a rank is stopped.

    So a launch that is only slow, on a busy machine, is never silent for long.
    """

    def __init__(self, folder: Path, harmed: int) -> None:
        self._records = [folder / "launches" / f"0001-{number}" / "samples.jsonl" for number in range(1, harmed + 1)]
        self._seconds = 0.0
        self.ranks: list[int] = []

    def __call__(self) -> float:
        if not all(map(gone, self.ranks)):
            self._seconds += 1
        elif self._records and in_first_cell(self._records[0]):
            del self._records[0]
            self.ranks = ranks_of(os.getpid())
            os.kill(self.ranks[-1], signal.SIGSTOP)
        return self._seconds


def kill_a_rank(live: Live) -> None:
    os.kill(live.ranks()[-1], signal.SIGKILL)


def kill_the_launcher(live: Live) -> None:
    os.kill(live.launcher(), signal.SIGKILL)


@each_kind
@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (kill_a_rank, "ended with status"),
        (kill_the_launcher, "ended with status -9"),
    ],
)
def test_a_launch_that_dies_costs_the_cell_it_is_at(
    mpi: Mpi, harm: Callable[[Live], None], said: str, tmp_path: Path
) -> None:
    with Live(tmp_path / "c", *UNTIL_HARMED, "--mpi", str(mpi.mpirun)) as live:
        live.until(live.in_a_cell)
        ranks = live.ranks()
        harm(live)
        done = live.end()
    assert done.returncode == 0, done.stderr
    assert len(keys(tmp_path / "c")) == 3
    [failed] = [line for line in results(tmp_path / "c") if line["error"]]
    assert failed["error"].startswith(said)
    assert "failed: bcast" in done.stderr
    wait_until(lambda: all(map(gone, ranks)))


@each_kind
def test_a_launch_that_hangs_costs_the_cell_it_is_at(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "c"
    clock = StoppedRanks(folder, harmed=1)
    monkeypatch.setattr(launch, "monotonic", clock)
    done = typed("run", *UNTIL_HARMED, "--mpi", mpi.mpirun, "--hang-after", "10s", "-o", folder)
    assert done.returncode == 0, done.stderr
    assert len(keys(folder)) == 3
    [failed] = [line for line in results(folder) if line["error"]]
    assert failed["error"].startswith("no sign of life for 10 s (--hang-after)")
    assert "failed: bcast" in done.stderr
    wait_until(lambda: all(map(gone, clock.ranks)))


@each_kind
def test_a_killed_campaign_leaves_no_ranks_and_loses_nothing(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with Live(folder, *LONG_LAST, "--mpi", str(mpi.mpirun), "--launches", "1") as live:
        live.until(lambda: (folder / "results.jsonl").exists() and live.ranks())
        ranks = live.ranks()
        os.kill(live.process.pid, signal.SIGKILL)
        wait_until(lambda: all(map(gone, ranks)))
    before = (folder / "results.jsonl").read_bytes()
    whole = before[: before.rfind(b"\n") + 1]
    again = typed(*live.arguments)
    assert again.returncode == 0, again.stderr
    assert (folder / "results.jsonl").read_bytes().startswith(whole)
    assert len(keys(folder)) == 3
    assert not any(line["error"] for line in results(folder))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_run_and_the_same_command_continues(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests were started to ignore it, by nohup say, and so is the run")
    folder = tmp_path / "c"
    with Live(folder, *LONG_LAST, "--launches", "1") as live:
        live.until(lambda: (folder / "results.jsonl").exists() and live.ranks())
        ranks = live.ranks()
        live.process.send_signal(number)
        done = live.end()
    assert done.returncode == status
    assert done.stderr.splitlines()[-1].startswith("stopped: ")
    assert done.stderr.endswith("still missing; the same command continues\n")
    assert all(map(gone, ranks))
    before = (folder / "results.jsonl").read_bytes()
    again = typed(*live.arguments)
    assert again.returncode == 0, again.stderr
    assert (folder / "results.jsonl").read_bytes().startswith(before)
    assert len(keys(folder)) == 3


@pytest.mark.parametrize("damage", [None, (b'"completion_ns":[', b'"completion_ns":[1'), (b'"begin"', b'"beg\x00n"')])
def test_raw_samples_that_nobody_lived_to_record_are_taken_over(
    damage: tuple[bytes, bytes] | None, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    with Live(folder, *LONG_FIRST, "--launches", "1") as live:
        live.until(live.in_a_cell)
        live.process.send_signal(signal.SIGSTOP)  # it reads no more; the ranks continue to their end
        record = folder / "launches" / "0001-1" / "samples.jsonl"
        wait_until(lambda: '"end"' in record.read_text())
        live.process.kill()
    if damage:
        record.write_bytes(record.read_bytes().replace(*damage, 1))
    again = typed(*live.arguments)
    assert again.returncode == 0, again.stderr
    assert len(keys(folder)) == 3
    assert (folder / "launches" / "0001-2").exists() is bool(damage), "what is damaged is measured again"
    if damage:
        assert f"{record} line " in again.stderr
        assert "it was set aside, and what it measured is measured again" in again.stderr
        assert record.with_name("samples.jsonl.damaged").exists()
    assert next(start["ended"] for start in starts(folder)) == ("damaged" if damage else "killed")


def test_a_small_budget_completes_few_points_and_the_same_command_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The budget has time for 8 or 9 of 12 results, which is known after the first launch."""
    folder = tmp_path / "c"
    study = compose(["bcast"], {**dict(zip(("algorithms", "sizes", "slot"), SHORT[2::2], strict=True)), "launches": 4})
    outcome = run_on_counted_starts(study.model_copy(update={"budget": 8.5e3}), folder, start_s=0.0, result_s=1e3)
    stopped_status(outcome, None)
    assert capsys.readouterr().out == "the budget is spent: 3 results still missing; the same command continues\n"
    assert sorted(Counter(key[4] for key in keys(folder)).values()) == [1, 4, 4]
    again = typed("run", *SHORT, "--launches", "4", "-o", folder)
    assert again.returncode == 0, again.stderr
    assert "the budget is spent" not in again.stdout
    assert len(keys(folder)) == 12


@needs_mpich
def test_an_algorithm_that_the_library_refuses(tmp_path: Path) -> None:
    refused = "recursive_doubling"
    arguments = ("allgather", "--ranks", "3", "--oversubscribe", "--algorithms", f"{refused},ring")
    where = ("--mpi", str(MPICHS[0].mpirun), "--sizes", "8", "--slot", "2ms", "--launches", "1")
    done = typed("run", *arguments, *where, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    errors = {line["algorithm"]: line["error"] for line in results(tmp_path / "c")}
    assert len(errors) == 2
    assert errors.pop(refused).startswith("refused by the library: ")
    assert list(errors.values()) == [None]
    assert len(list((tmp_path / "c" / "launches").glob("0*"))) == 1, "the launch continued after the refusal"


def little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 * 2**29, 3 * 2**29))


def test_an_algorithm_that_ends_launches_is_abandoned_at_larger_sizes(tmp_path: Path) -> None:
    # Sizes whose buffers don't fit into the memory that a process may have: the program itself ends.
    folder = tmp_path / "c"
    large = ("900M", "920M", "940M", "960M")
    sizes = ",".join(("8", *large))
    study = ("allreduce", "--algorithms", "default", "--sizes", sizes, "--slot", "2ms", "--launches", "2")
    done = timpani("run", *study, "-o", folder, preexec_fn=little_memory)
    assert done.returncode == 0, done.stderr
    by_size: dict[int, list[str | None]] = {}
    for line in results(folder):
        by_size.setdefault(line["message_bytes"], []).append(line["error"])
    assert by_size.pop(8) == [None, None]
    assert len(by_size) == len(large)
    errors = [error or "" for listed in by_size.values() for error in listed]
    assert all(len(listed) <= 2 for listed in by_size.values())
    assert all(error.startswith(("not tried: ", "ended with status ")) for error in errors)
    assert any(error.startswith("not tried: the algorithm ended 2 launches") for error in errors)
    assert any("bad_alloc" in error for error in errors)
    before = (folder / "results.jsonl").read_bytes()
    assert typed("run", *study, "-o", folder).returncode == 0
    assert (folder / "results.jsonl").read_bytes() == before, "abandoned cells stay abandoned"


def test_an_algorithm_that_hangs_is_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "monotonic", StoppedRanks(tmp_path / "c", harmed=2))
    done = typed("run", *LONG, "--slot", "60s", "--launches", "1", "--hang-after", "10s", "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    errors = [line["error"] for line in results(tmp_path / "c")]
    assert [error.partition(" for ")[0] for error in errors[:2]] == ["no sign of life"] * 2
    assert len(errors) == 3
    assert errors[2].startswith("not tried: the algorithm ended 2 launches")


@pytest.fixture
def runner_with(tmp_path: Path) -> Callable[[str], Runner]:
    """A campaign whose launcher is a shell script."""

    def make(script: str) -> Runner:
        study = Study.check({"collectives": {"bcast": "default"}, "ranks": [2], "sizes": [8], "launches": 4}, "test")
        session = Session.prepare(study, str(FOUND[0].mpirun), oversubscribe=False)
        launcher = tmp_path / "mpirun"
        launcher.write_text(f"#!/bin/sh\n{script}\n")
        launcher.chmod(0o755)
        store: Store = session.open(tmp_path / "c")
        mpi = replace(FOUND[0], mpirun=launcher)
        groups = (replace(each, variant=replace(each.variant, mpi=mpi)) for each in session.plan.groups)
        plan = replace(session.plan, mpi=mpi, groups=tuple(groups))
        return Runner(plan, store, lambda mpi: build(FOUND[0]), CountedStarts(), stop=lambda: False)

    return make


def test_a_library_that_starts_nothing_is_reported_in_one_line(runner_with: Callable[[str], Runner]) -> None:
    runner = runner_with("echo ----------; echo 'There is no network.'; echo 'Buy one.'; exit 7")
    with pytest.raises(UserError, match=r"can't start 2 ranks: ended with status 7: There is no network\.; ") as said:
        runner.run()
    assert "\n" not in str(said.value)


def test_a_launcher_that_is_no_program_is_reported_in_one_line(runner_with: Callable[[str], Runner]) -> None:
    runner = runner_with("")
    runner.plan.mpi.mpirun.write_bytes(b"\x7fELF, not really")
    with pytest.raises(UserError, match=r"mpirun can't be started \(Exec format error\)"):
        runner.run()


def test_a_launcher_of_another_library_is_noticed(runner_with: Callable[[str], Runner]) -> None:
    # What each rank sees when the launcher belongs to another library: a world of one rank.
    runner = runner_with('while [ "${1##*/}" != timpani-measure ]; do shift; done; exec "$@"')
    with pytest.raises(UserError, match=r"was asked for 2 ranks and the program sees 1; use the launcher that belongs"):
        runner.run()


def test_a_start_that_fails_now_and_then_is_repeated(runner_with: Callable[[str], Runner], tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.touch()
    runner = runner_with(f'if [ -e {odd} ]; then rm {odd}; exit 1; fi; {FOUND[0].mpirun} "$@" && touch {odd}')
    assert runner.run().ended == "complete"
    assert len(keys(tmp_path / "c")) == 4
    ends = [start["ended"] for start in starts(tmp_path / "c")]
    assert ends.count("finished") == 4
    assert ends.count("died") == 4


def test_a_cell_whose_launch_ends_right_after_its_result_has_that_alone(
    runner_with: Callable[[str], Runner], tmp_path: Path
) -> None:
    under_way = '"${last%/*}/cell.txt"'
    runner = runner_with(f'{FOUND[0].mpirun} "$@"; for last; do :; done; echo 0 > {under_way}; kill -9 $$')
    assert runner.run().ended == "complete"
    assert len(keys(tmp_path / "c")) == 4
    assert not [line for line in results(tmp_path / "c") if line["error"]]


def test_a_library_that_starts_no_more_ends_the_campaign(runner_with: Callable[[str], Runner], tmp_path: Path) -> None:
    runner = runner_with(f'[ -e {tmp_path}/once ] && exit 3; touch {tmp_path}/once; {FOUND[0].mpirun} "$@"')
    with pytest.raises(UserError, match="can't start 2 ranks: ended with status 3: it printed nothing"):
        runner.run()
    assert len(keys(tmp_path / "c")) == 1
