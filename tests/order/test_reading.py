"""Orders of real calls: Timpani's schedules add as the verifier says, and the command shows what a library does."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import cells, results_of, start, write_campaign
from tests.cli.typed import typed
from tests.installed import FOUND, OPEN_MPIS, label, needs_mpi, needs_mpich, needs_open_mpi, rest
from tests.order.test_tree import added, leaves, probed
from timpani.campaign.folder.load import load
from timpani.campaign.run.session import Session
from timpani.errors import UserError
from timpani.native.mpi import Mpi
from timpani.order.commands import order_study, read_orders
from timpani.order.naming import Schedules
from timpani.order.reading import ELEMENT_BYTES, Reading
from timpani.order.tree import read_tree
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.selection import ALL
from timpani.tune.from_campaign import table_of
from timpani.tune.table_file import read_table
from timpani.tune.workflow import with_orders

REDUCTIONS = [name for name, each in OPERATIONS.items() if each.kind == "collective" and each.reduces]


@pytest.fixture(scope="module")
def schedules() -> Schedules:
    return Schedules.of_programs(FOUND[0])


@needs_mpi
@pytest.mark.parametrize("collective", REDUCTIONS)
def test_schedules_add_as_the_verifier_says(schedules: Schedules, collective: str) -> None:
    known = [each for each in schedules.own.algorithms[collective] if not each.restrictions.topology]
    options = {"algorithms": ",".join(f"timpani/{each.name}" for each in known), "ranks": "2,3,5,8", "sizes": "8,208"}
    study = order_study([collective], options)
    session = Session.prepare(study, str(FOUND[0].mpirun), True)
    readings = read_orders(session, pytest.fail)
    assert len(readings) == len(session.plan.cells)
    for each in readings:
        cell = each.cell
        count = cell.message_bytes // ELEMENT_BYTES
        (orders,) = schedules.execute([cell.algorithm], collective, cell.ranks, count, each.root).values()
        assert each.orders == orders, each
        assert not each.changes
        assert schedules.names(each)


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 7, 16, 33, 64])
def test_verified_orders_can_be_read_from_sums(schedules: Schedules, ranks: int) -> None:
    for collective in REDUCTIONS:
        for name, orders in schedules.orders(collective, ranks, ranks, 0).items():
            for tree in {tree for of_rank in orders for tree in of_rank if leaves(tree) == ranks}:
                if ranks <= 16 or tree == orders[0][0]:
                    assert read_tree(probed(ranks, added(tree)), range(ranks)) == tree, (name, tree)


@needs_open_mpi
def test_the_command_shows_where_the_order_depends_on_the_position(tmp_path: Path) -> None:
    words = ("allreduce", "--algorithms", "default,ring", "--ranks", "4", "--sizes", "8,4Ki", "--mpi", "openmpi")
    drawing = tmp_path / "order.svg"
    done = typed("order", *words, "--format", "json", "-o", str(drawing))
    assert done.returncode == 0, done.stderr
    assert "reading takes 72 calls, about" in done.stderr
    found = json.loads(done.stdout)
    ring = [each for each in found["readings"] if each["algorithm"] == "ring"]
    assert [len(each["results"][0]) for each in ring] == [1, 4]
    assert [elements for elements, _ in ring[1]["results"][0]] == [128] * 4
    assert ring[1]["results"][0][0][1] == [[[0, 1], 2], 3]
    assert set(ring[1]["adds_as"]) == {"timpani/ring", "timpani/segmented_ring"}
    assert found["reproducibility"]["name"] == "allreduce"
    assert "All ranks get the same bits" in found["reproducibility"]["text"]
    assert "and the launch. Not compared: the placement" in found["reproducibility"]["text"]
    assert drawing.read_text().startswith("<svg")
    latex = typed("order", *words[:-2], "--mpi", "openmpi", "--format", "latex").stdout
    assert r"\caption{Orders of addition}" in latex
    assert "figure" not in latex


@rest
@needs_open_mpi
@pytest.mark.parametrize("mpi", OPEN_MPIS, ids=label)
def test_orders_and_counted_messages_name_the_same_schedules(tmp_path: Path, mpi: Mpi) -> None:
    words = ("allreduce", "reduce", "scan", "--algorithms", "all", "--ranks", "4,6", "--sizes", "8,64Ki")
    library = ("--mpi", str(mpi.mpirun))
    read = typed("order", *words, *library, "--format", "json")
    assert read.returncode == 0, read.stderr
    proof = ("--datatype", "double", "--launches", "1", "--prove", "--oversubscribe", "-o", "proven")
    done = typed("run", *words, *library, *proof, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counted = json.loads(typed("prove", "proven", "--format", "json", cwd=tmp_path).stdout)

    def cell(row: dict[str, Any]) -> tuple[object, ...]:
        return tuple(row[each] for each in ("collective", "algorithm", "parameters", "ranks", "message_bytes"))

    by_order = {cell(each): set(each["adds_as"]) for each in json.loads(read.stdout)["readings"] if each["launch"] == 1}
    named = {cell(each): (by_order[cell(each)], set(each["named"])) for each in counted}
    both = {key: names for key, names in named.items() if all(names)}
    assert len(both) > len(named) / 2
    assert {key: names for key, names in both.items() if not set.intersection(*names)} == {}


@needs_mpich
def test_a_library_that_counts_no_messages_is_named() -> None:
    words = ("scan", "--algorithms", "default", "--ranks", "5", "--sizes", "8", "--mpi", "mpich")
    done = typed("order", *words)
    assert done.returncode == 0, done.stderr
    assert "recursive_doubling" in done.stdout.splitlines()[-1]
    assert "Not compared: the message size, the placement" in done.stdout


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("bcast", "--ranks", "2"), "bcast adds nothing; name a reduction: reduce, allreduce"),
        (("latency", "--ranks", "2"), "latency adds nothing"),
        (("allreduce", "--ranks", "1:4"), "one rank adds nothing; choose two ranks or more: --ranks 2:16"),
        (("allreduce", "--ranks", "2:1Ki"), "1024 ranks have too many pairs to read; choose at most 256 ranks"),
        (("allreduce", "--operator", "max"), "no order shows in results of max; leave out --operator max"),
        (("allreduce", "--sizes", "12"), "12 B is not a multiple of 8 B"),
        (("allreduce", "--sizes", "0,8"), "vectors of 0 B hold nothing to add; choose sizes of 8 B or more"),
        (("allreduce", "-o", "order.png"), "order.png is no drawing; name a file that ends with .svg"),
    ],
)
def test_operations_without_an_order_are_refused_in_one_line(words: tuple[str, ...], error: str) -> None:
    done = typed("order", *words)
    assert done.returncode == 2
    assert error in done.stderr
    assert done.stderr.count("\n") == 1


@needs_open_mpi
def test_a_reduction_is_read_at_each_root() -> None:
    words = ("scan", "reduce", "--algorithms", "default", "--ranks", "4", "--sizes", "64Ki", "--mpi", "openmpi")
    done = typed("order", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    readings = json.loads(done.stdout)["readings"]
    assert sorted(each["root"] for each in readings if each["collective"] == "reduce") == [0, 1, 2, 3]
    assert "the order of addition depends on the root (on 4 ranks at 64 KiB between 0 and 1)" in done.stdout


def test_ranks_with_the_same_digest_keep_their_own_order() -> None:
    cell = Cell("allreduce", Algorithm("openmpi", "default"), 3, "core", 8, "warm")
    left = [list(probed(3, added(tree)).values()) for tree in (((0, 1), 2), ((0, 2), 1))]
    found = [{"changes": True, "runs": [[1, "7"]], "remainders": {"7": left[rank > 0]}} for rank in range(3)]
    reading = Reading.from_record(cell, 0, 1, found)
    assert [runs[0].order for runs in reading.results] == [((0, 1), 2), ((0, 2), 1), ((0, 2), 1)]


MEASURED = {
    "default": {8: 20.0, 4096: 20.0, 4100: 20.0},
    "recursive_doubling": {8: 5.0, 4096: 20.0, 4100: 20.0},
    "ring": {8: 20.0, 4096: 5.0, 4100: 20.0},
    "segmented_ring": {8: 20.0, 4096: 20.0, 4100: 5.0},
}


def campaign_of(folder: Path, measured: Mapping[str, Mapping[int, float]], collective: str) -> Path:
    """A campaign of Open MPI on 4 ranks of this computer."""
    times = cells(measured, collective=collective, ranks=4)
    return write_campaign(folder, results_of(times), [start(launch, ("here",) * 4) for launch in range(1, 9)])


@needs_open_mpi
def test_rules_that_change_the_order_of_addition_are_left_out(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path / "campaign", MEASURED, "allreduce")
    words = ("tune", str(campaign), "-o", str(tmp_path / "tuned"), "--same-order", "--mpi", "openmpi")
    done = typed(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = "allreduce recursive_doubling, 4 ranks: adds doubles in the default's order at the measured sizes\n"
    assert kept in done.stdout
    assert "allreduce ring, 4 ranks: changes the order of addition at 4 KiB: left out\n" in done.stdout
    unread = "allreduce segmented_ring, 4 ranks: its order of addition is unknown: left out\n"
    assert unread in done.stdout
    written = "".join(path.read_text() for path in (tmp_path / "tuned").iterdir())
    assert "recursive_doubling" in written
    assert "ring" not in written.replace("string", "").replace("during", "")


@needs_open_mpi
def test_reproducible_rules_add_in_one_order_and_say_what_that_costs(tmp_path: Path) -> None:
    """Open MPI's default reduce adds in three orders here, and `rabenseifner` in another one at 8 B."""
    measured = {
        "default": {4: 10.0, 8: 10.0, 4096: 10.0, 65536: 10.0},
        "rabenseifner": {8: 2.0, 4096: 2.0, 65536: 2.0},
        "in-order_binary": {8: 5.0, 4096: 5.0},
        "binomial": {8: 10.0, 4096: 20.0, 65536: 40.0},
        "linear": {8: 80.0, 4096: 80.0, 65536: 80.0},
    }
    campaign = campaign_of(tmp_path / "campaign", measured, "reduce")
    tuned = tmp_path / "tuned"
    done = typed("tune", str(campaign), "-o", str(tuned), "--reproducible", "--mpi", "openmpi")
    assert done.returncode == 0, done.stdout + done.stderr
    (rule,) = read_table(tuned / "table.json").rules
    assert (str(rule.algorithm), rule.sizes, rule.reordered) == ("openmpi/binomial", ALL, (8, 4096))
    assert rule.regret == pytest.approx(19)
    cost = (
        "reduce on 4 ranks: binomial adds in one order at 3 points and takes 2.00 times the default's time (geometric "
        "mean of 3 points), 4.00 times at 64 KiB (95 % interval"
    )
    assert cost in done.stdout
    assert (
        "- reduce binomial, 4 ranks: changes the order of addition at 8 B, 4 KiB" in (tuned / "tuning.md").read_text()
    )


@needs_open_mpi
def test_rules_are_written_where_their_order_that_nobody_asked_for_cannot_be_read(tmp_path: Path) -> None:
    campaign = load(campaign_of(tmp_path / "campaign", MEASURED, "allreduce"))
    table = table_of(campaign, [campaign.folder])
    lost = replace(OPEN_MPIS[0], mpirun=tmp_path / "mpirun")
    notes: list[str] = []
    assert with_orders(table, campaign, lost, "any", notes.append) == table
    assert notes[0].startswith("what the rules change in the order of addition is unknown: ")
    with pytest.raises(UserError):
        with_orders(table, campaign, lost, "same-order", notes.append)


@needs_open_mpi
def test_rules_of_the_preload_can_be_asked_for_one_order(tmp_path: Path) -> None:
    """The default's allreduce adds in one order on 4 ranks; Timpani's ring does not."""
    times = {"default": dict.fromkeys((8, 4096), 20.0), "timpani/ring": {8: 5.0, 4096: 5.0}}
    campaign = campaign_of(tmp_path / "campaign", times, "allreduce")
    rules = tmp_path / "rules.txt"
    done = typed("rules", str(campaign), "-o", str(rules), "--same-order", "--mpi", "openmpi")
    assert "allreduce timpani/ring, 4 ranks: changes the order of addition at 8 B, 4 KiB: left out" in done.stderr
    assert (done.returncode, rules.exists()) == (2, False)
    done = typed("rules", str(campaign), "-o", str(rules), "--reproducible", "--mpi", "openmpi")
    assert "allreduce on 4 ranks: the default adds in one order at 2 points" in done.stderr
    both = typed("rules", str(campaign), "-o", str(rules), "--reproducible", "--same-order")
    assert (both.returncode, both.stderr) == (
        2,
        "timpani: --same-order and --reproducible exclude each other; leave one out\n",
    )
