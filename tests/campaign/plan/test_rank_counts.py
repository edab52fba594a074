"""Rank counts that share starts: which can, what runs where, and that the first ranks of many do what few do."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.campaign.live import results, starts
from tests.cli.typed import typed
from tests.installed import FOUND, OPEN_MPIS, needs_mpi, needs_open_mpi, needs_simgrid
from timpani.campaign.folder.load import load, read_proofs
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.run.prove import Prover
from timpani.campaign.run.session import Session
from timpani.campaign.run.world_check import apart_by_messages
from timpani.campaign.run.world_times import WorldTimer
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.compose import compose

SHARED, SEPARATE = ("--starts", "shared"), ("--starts", "separate")


def machine_file(folder: Path, cores: int, *nodes: str, more: str = "") -> Path:
    file = folder / "machine.toml"
    groups = (
        f'[[groups]]\nname = "{node}"\nnodes = "{node}"\ncores = {cores}\n{more.format(node=node)}' for node in nodes
    )
    mpi = FOUND[0]
    file.write_text(f'name = "cluster"\nlauncher = "{mpi.kind}"\nmpi = "{mpi.mpirun}"\n' + "".join(groups))
    return file


def told(machine: Path, *arguments: str) -> str:
    """What a dry run of a broadcast says."""
    study = ("bcast", "--algorithms", "default,binomial", "--sizes", "8", *arguments)
    done = typed("run", *study, "--on", machine, "--dry-run")
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_mpi
def test_rank_counts_have_starts_of_their_own_unless_asked(tmp_path: Path) -> None:
    machine = machine_file(tmp_path, 8, "n1")
    assert "30 starts of the MPI program" in told(machine, "--ranks", "2,4,8")
    shared = told(machine, "--ranks", "2,4,8", *SHARED)
    assert "10 starts of the MPI program" in shared
    assert "8 ranks, and the first 2, 4 of them by core" in shared
    [check] = [line for line in shared.splitlines() if line.startswith("first ")]
    assert re.fullmatch(
        r"first 3 starts to check the library's own choices on the first ranks of more, by (messages|times): "
        r"about \d+ s beside that time(, up to 15 starts and \d+ s where they differ)?",
        check,
    )
    assert "; together no longer than the budget" in told(machine, "--ranks", "2,4,8", "--budget", "1h", *SHARED)
    assert "starts of their own" not in shared
    no_use = "--starts shared makes no difference: there is one rank count"
    assert no_use in told(machine, "--ranks", "4", *SHARED)
    assert no_use not in shared


@needs_mpi
@pytest.mark.parametrize(
    ("nodes", "arguments", "said"),
    [
        (("n1", "n2"), ("--ranks", "4,8,16"), ["8 ranks by core: they are all on one node, and 16 are not"]),
        (("n1", "n2"), ("--ranks", "4,16", "--placement", "node"), []),
        (("n1",), ("--ranks", "2,16", "--oversubscribe"), ["2 ranks by core: 16 ranks share cores, and these don't"]),
    ],
    ids=["one node and several", "by node", "sharing cores"],
)
def test_what_keeps_rank_counts_apart_is_said(
    nodes: tuple[str, ...], arguments: tuple[str, ...], said: list[str], tmp_path: Path
) -> None:
    lines = told(machine_file(tmp_path, 8, *nodes), *arguments, *SHARED).splitlines()
    assert [line.removeprefix("starts of their own: ") for line in lines if line.startswith("starts of")] == said


@needs_mpi
def test_ranks_that_would_be_elsewhere_have_starts_of_their_own(tmp_path: Path) -> None:
    # A category's host files for few nodes are not the beginning of those for more.
    machine = machine_file(tmp_path, 4, "a[1-4]", "b[1-4]", more='switch = "{node}"\n')
    lines = told(machine, "--ranks", "4,8", "--placement", "category:1:2", *SHARED).splitlines()
    assert "starts of their own: 4 ranks by category:1:2: they are not where the first of 8 are" in lines


@needs_mpi
def test_messages_between_two_ranks_share_no_starts(tmp_path: Path) -> None:
    machine = machine_file(tmp_path, 8, "n1")
    done = typed("run", "latency", "--ranks", "2,4", "--sizes", "8", "--on", machine, *SHARED, "--dry-run")
    assert "starts of their own: 2 ranks by core: only collectives share starts" in done.stdout.splitlines()


@needs_mpi
def test_starts_are_shared_or_separate() -> None:
    done = typed("run", "bcast", "--starts", "common", "--dry-run")
    assert done.returncode == 2
    assert "separate or shared" in done.stderr


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two campaigns of the same cells, counted too where the library can: in starts of their own, and shared. None is a
    default, whose check by times a busy machine may disturb."""
    folder = tmp_path_factory.mktemp("starts")
    for way in ("separate", "shared"):
        study = ("bcast", "--algorithms", "binomial,timpani/binomial", "--ranks", "3,4", "--oversubscribe")
        how = ("--sizes", "64Ki", "--slot", "2ms", "--launches", "2", "--prove", "--starts", way)
        done = typed("run", *study, *how, "--mpi", OPEN_MPIS[0].mpirun, "-o", folder / way)
        assert done.returncode == 0, done.stderr
    return {way: folder / way for way in ("separate", "shared")}


@needs_open_mpi
def test_the_first_ranks_of_a_larger_start_are_recorded_as_such(both: dict[str, Path]) -> None:
    for way, worlds in (("separate", {(3, 3), (4, 4)}), ("shared", {(3, 4), (4, 4)})):
        lines = results(both[way])
        assert len(lines) == 8
        assert all(line["error"] is None for line in lines)
        assert {(line["ranks"], line["world"]) for line in lines} == worlds
    measuring = [start for start in starts(both["shared"]) if start["launch"] is not None]
    assert [start["world"] for start in measuring] == [4, 4]
    # Cells of other ranks never take turns.
    turns = defaultdict(set)
    for line in results(both["shared"]):
        turns[line["in_turn"]].add((line["ranks"], line["message_bytes"]))
    assert all(len(points) == 1 for points in turns.values())


@needs_open_mpi
def test_the_first_ranks_of_a_larger_start_send_what_so_many_send_alone(both: dict[str, Path]) -> None:
    def sent(folder: Path) -> dict[Any, Any]:
        key = ("provider", "algorithm", "ranks", "message_bytes")
        return {
            tuple(proof[name] for name in key): (proof["messages"], proof["bytes"]) for proof in read_proofs(folder)
        }

    assert len(sent(both["shared"])) == 4
    assert sent(both["shared"]) == sent(both["separate"])


@needs_open_mpi
def test_a_campaign_goes_on_with_shared_starts_and_without(
    both: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = json.loads((both["separate"] / "campaign.json").read_text())
    assert recorded["study"]["starts"] == "separate"
    folder = tmp_path / "c"
    study = ("bcast", "--algorithms", "default,binomial", "--ranks", "3,4", "--oversubscribe", "--sizes", "8")
    how = ("--slot", "2ms", "--mpi", str(OPEN_MPIS[0].mpirun), "-o", folder)
    taken = {3: 1.0, 4: 1.0}  # of starts of so many ranks

    def proportions(_timer: WorldTimer, group: Group, defaults: Sequence[PlannedCell]) -> dict[PlannedCell, float]:
        return dict.fromkeys(defaults, taken[group.ranks])

    # What a check by times sees here depends on how busy the machine is: it decides by what it is given.
    monkeypatch.setattr(WorldTimer, "_proportions", proportions)
    monkeypatch.setattr("timpani.campaign.run.session.counting_at_once", lambda _: None)
    for launches, way, taken[4] in (("1", (), 1.0), ("2", SHARED, 1.2), ("3", SHARED, 2.0), ("4", SEPARATE, 1.0)):
        done = typed("run", *study, *how, "--launches", launches, *way)
        assert done.returncode == 0, done.stderr
        apart = "starts of their own: 3 ranks by core: among 4 the library's own bcast of 8 B takes 2 times as long"
        assert (apart in done.stderr) == (launches == "3")
    worlds = {(line["launch"], line["ranks"]): line["world"] for line in results(folder)}
    assert worlds == {(launch, 4): 4 for launch in range(1, 5)} | {(1, 3): 3, (2, 3): 4, (3, 3): 3, (4, 3): 3}


COUNTING_AT_ONCE = [mpi for mpi in OPEN_MPIS if mpi.numbers >= (5,)]


@pytest.mark.needs(
    bool(COUNTING_AT_ONCE), "may be skipped: only Open MPI from 5.0 reads message counts inside a launch"
)
@pytest.mark.parametrize("depends", [False, True], ids=["the same", "another"])
def test_a_choice_that_depends_on_other_ranks_keeps_its_starts(depends: bool, tmp_path: Path) -> None:
    mpi: Mpi = COUNTING_AT_ONCE[0]
    launcher = tmp_path / "mpirun"  # of a library whose default is another among four ranks
    other = 'case " $* " in *" -np 4 "*) set -- --mca coll_tuned_bcast_algorithm 1 "$@";; esac\n' if depends else ""
    launcher.write_text(f'#!/bin/sh\n{other}exec {mpi.mpirun} "$@"\n')
    launcher.chmod(0o755)
    study = compose(["bcast"], {"algorithms": "default,binomial", "ranks": "3,4", "sizes": "8", "starts": "shared"})
    session = Session.prepare(study, str(mpi.mpirun), oversubscribe=True)
    plan = replace(session.plan, mpi=replace(mpi, mpirun=launcher))
    said: list[str] = []
    library = LIBRARIES[mpi.kind]
    assert library.counting is not None
    counting = library.counting(mpi)
    with session.open(tmp_path / "c") as store:
        prover = Prover(plan, store, build(mpi), counting, lambda: False, 120.0, said.append)
        checked = apart_by_messages(plan, prover, prover.stop)
    why = "starts of their own: 3 ranks by core: among 4 the library's own choice doesn't send the same messages"
    assert said == [why] * depends
    expected = [(4, (4,)), (3, (3,))] if depends else [(4, (3, 4))]
    assert [(group.ranks, group.rank_counts) for group in checked.groups] == expected


@needs_simgrid
def test_simulated_times_are_the_same_on_the_first_ranks_of_more(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'ranks = [4, 8, 16]\nsizes = [8, 65536]\nplacement = ["node"]\n'
        '[collectives]\nbcast = ["default", "timpani/binomial"]\nallgather = ["default"]\n'
    )
    times = []
    for way in ("separate", "shared"):
        done = typed("run", study, "--on", "simgrid:two-nodes-of-24", "--starts", way, "-o", tmp_path / way)
        assert done.returncode == 0, done.stderr
        found = load(tmp_path / way).results
        assert found["error"].null_count() == found.height == 18
        assert found.filter(pl.col("world") > pl.col("ranks")).height == (12 if way == "shared" else 0)
        times.append(found.sort("collective", "algorithm", "provider", "ranks", "message_bytes")["median_us"])
    assert times[1].to_list() == pytest.approx(times[0].to_list(), rel=1e-3, abs=0.02)
