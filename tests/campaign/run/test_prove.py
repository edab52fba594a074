"""What messages prove: each algorithm's root sends to whom it should, counted on real ranks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import SECONDS
from tests.cli.typed import typed
from tests.installed import FOUND, OPEN_MPIS, every_open_mpi, needs_mpi, needs_open_mpi
from timpani.campaign.folder.load import read_proofs
from timpani.campaign.folder.raw_record import read_whole_lines
from timpani.campaign.run import session
from timpani.campaign.run.prove import indistinct, read_matrices, shown_cells
from timpani.campaign.run.session import Session
from timpani.campaign.run.start import Programs, Starter
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell
from timpani.study.compose import compose
from timpani.study.schema import cell_columns

ON_FOUR = ("--ranks", "4", "--oversubscribe", "--slot", "2ms", "--launches", "1")


def peers_of_root(proof: dict[str, Any]) -> list[int]:
    return [peer for peer, count in enumerate(proof["messages"][0]) if count]


@every_open_mpi
def test_each_broadcast_leaves_the_root_as_its_name_says(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    algorithms = "default,linear,binomial,chain,pipeline"
    study = ("run", "bcast", "--algorithms", algorithms, "--sizes", "1Ki", *ON_FOUR, "--mpi", mpi.mpirun, "-o", folder)
    done = typed(*study, "--prove")
    assert done.returncode == 0, done.stderr
    proofs = {proof["algorithm"]: proof for proof in read_proofs(folder)}
    roots = {name: peers_of_root(proof) for name, proof in proofs.items()}
    assert roots.pop("default") in (roots["linear"], roots["binomial"], roots["pipeline"])
    # The chain's default fan-out is four ranks.
    assert roots == {"linear": [1, 2, 3], "binomial": [1, 2], "chain": [1, 2, 3], "pipeline": [1]}
    assert proofs["linear"]["bytes"] == [[0, 1024, 1024, 1024], [0] * 4, [0] * 4, [0] * 4]
    received = [sum(row[rank] for row in proofs["binomial"]["bytes"]) for rank in range(4)]
    assert received == [0, 1024, 1024, 1024]
    [said] = [line for line in done.stdout.splitlines() if "chain" in line and "not distinguishable" in line]
    assert said.startswith("not distinguishable by their messages: bcast, 4 ranks, 1 KiB: chain, ")
    assert said.endswith("linear send the same messages")

    before = (folder / "proofs.jsonl").read_bytes()
    again = typed(*study, "--prove")
    assert again.returncode == 0, again.stderr
    assert "counting messages" not in again.stderr
    assert (folder / "proofs.jsonl").read_bytes() == before


@every_open_mpi
def test_each_radix_of_a_tree_is_that_trees(mpi: Mpi, tmp_path: Path) -> None:
    algorithms = "default,knomial,knomial:radix=2,knomial:radix=3,knomial:radix=8"
    study = ("bcast", "--algorithms", algorithms, "--sizes", "1Ki", "--ranks", "8", *ON_FOUR[2:], "--mpi", mpi.mpirun)
    done = typed("run", *study, "--prove", "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert "Warning: bcast knomial" not in done.stderr
    proofs = {proof["parameters"]: proof for proof in read_proofs(tmp_path / "c") if proof["algorithm"] == "knomial"}
    assert {which: peers_of_root(proof) for which, proof in proofs.items()} == {
        "": [1, 2, 3, 4],
        "radix=2": [1, 2, 4],
        "radix=3": [1, 2, 3, 6],
        "radix=8": [1, 2, 3, 4, 5, 6, 7],
    }


@every_open_mpi
def test_a_cell_that_failed_is_not_counted(mpi: Mpi, tmp_path: Path) -> None:
    study = ("allgather", "--algorithms", "two_proc,ring", "--sizes", "8", *ON_FOUR, "--mpi", mpi.mpirun, "--prove")
    done = typed("run", *study, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert "counting messages: 1 cell on 4 ranks" in done.stderr
    [proof] = read_proofs(tmp_path / "c")
    assert proof["algorithm"] == "ring"
    assert [[peer for peer, count in enumerate(row) if count] for row in proof["messages"]] == [[1], [2], [3], [0]]


@every_open_mpi
@pytest.mark.parametrize("deaths", [1, 2])
def test_a_count_that_dies_is_repeated_once(
    mpi: Mpi, deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(tmp_path, f'case $2 in */proof-[1-{deaths}]/*) exit 3; esac; exec {build(mpi)}/timpani-measure "$@"')
    monkeypatch.setattr(session, "build", lambda mpi: tmp_path)
    study = ("bcast", "--algorithms", "default", "--sizes", "8", "--slot", "2ms", "--launches", "1", "--prove")
    done = typed("run", *study, "--oversubscribe", "--mpi", mpi.mpirun, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("it is started again") == 1
    assert done.stderr.count("not counted: ") == deaths - 1
    assert len(read_proofs(tmp_path / "c")) == 2 - deaths


def measure(folder: Path, script: str) -> None:
    """Write the measuring program of this folder, a shell script."""
    program = folder / "timpani-measure"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@needs_open_mpi
def test_messages_that_the_library_does_not_send_prove_nothing(tmp_path: Path) -> None:
    """coll/sm copies through shared memory: all of its algorithms would send "the same messages", none."""
    study = ("bcast", "--algorithms", "default", "--sizes", "1Ki", *ON_FOUR[2:])
    shared = ("--variant", "shared: --mca coll_sm_priority 100", "--mpi", OPEN_MPIS[0].mpirun)
    done = typed("run", *study, *shared, "--prove", "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert "not counted: bcast default@shared, 2 ranks, 1 KiB: the library counted no message" in done.stderr
    assert "same messages" not in done.stdout
    assert [proof["variant"] for proof in read_proofs(tmp_path / "c")] == ["default"]


def show_matrices(folder: Path, programs: Programs, stop: Callable[[], bool]) -> tuple[int, list[str]]:
    """How many matrices were read, and the notes."""
    options = {"algorithms": "column_by_column,packed", "sizes": "32", "datatype": "int32", "ranks": "2"}
    prepared = Session.prepare(compose(["transpose"], options), str(FOUND[0].mpirun), True)
    notes: list[str] = []
    with prepared.open(folder) as store:
        starter = Starter(prepared.plan, store, programs, stop, notes.append)
        return len(read_matrices(starter, SECONDS, shown_cells(prepared.plan))), notes


@needs_mpi
def test_matrices_that_were_read_before_the_stop_are_not_missing(tmp_path: Path) -> None:
    def ended() -> bool:
        record = tmp_path / "c/launches/proof-1/samples.jsonl"
        return record.with_name("samples.jsonl.gz").exists() or any(
            "end" in line.values for line in read_whole_lines(record, 0)[0]
        )

    assert show_matrices(tmp_path / "c", build, ended) == (2, [])
    assert show_matrices(tmp_path / "d", build, lambda: True) == (
        0,
        ["2 transposes not shown: stopped; the same command shows all"],
    )


@needs_mpi
def test_cells_without_a_line_in_a_start_that_finished_are_missing(tmp_path: Path) -> None:
    plan = f"{tmp_path}/plan-$$"
    measure(tmp_path, f'sed "/^point/,\\$d" "$1" > {plan} && exec {build(FOUND[0])}/timpani-measure {plan} "$2"')

    def repeated() -> bool:
        return len(list(tmp_path.glob("c/launches/*"))) > 1

    [note] = show_matrices(tmp_path / "c", lambda mpi: tmp_path, repeated)[1]
    assert note.startswith("not shown: 2 cells: ")


def proof(algorithm: str, messages: list[list[int]], **fields: Any) -> dict[str, Any]:
    cell = Cell("bcast", Algorithm("openmpi", algorithm), 2, "core", 8, "warm")
    return {**cell_columns(cell), "messages": messages, "bytes": json.loads(json.dumps(messages)), **fields}


def test_equal_messages_are_reported_over_sizes() -> None:
    one, two = [[0, 1], [0, 0]], [[0, 2], [0, 0]]
    proofs = [
        *(proof("default", one, message_bytes=size) for size in (8, 16, 1024)),
        *(proof("chain", one, message_bytes=size, parameters="fanout=4") for size in (8, 1024)),
        proof("ring", two),
        proof("ring", one, ranks=3),
        proof("ring", one, ranks=3, provider="timpani"),
    ]
    assert indistinct(proofs) == [
        "bcast, 2 ranks, 2 sizes from 8 B to 1 KiB: chain:fanout=4, default send the same messages",
        "bcast, 3 ranks, 8 B: ring, timpani/ring send the same messages",
    ]
    assert indistinct([]) == []
