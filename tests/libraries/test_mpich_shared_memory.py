"""MPICH's tree of shared memory: written, read, checked, and followed by a library that has shared memory."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import every_mpich, needs_two_cores
from tests.libraries.test_mpich import DATA, MPI
from tests.libraries.test_mpich_tree import LIBRARY, compile_bcast, run
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.algorithms import catalogue, selection, setting
from timpani.libraries.mpich.compositions_file import CompositionsFile
from timpani.libraries.mpich.control_variables import read_variables
from timpani.libraries.mpich.embedded_trees import embedded_trees
from timpani.libraries.mpich.node_algorithms import node_algorithms
from timpani.libraries.mpich.selection_tree import Branch, Tree, dump, parse
from timpani.libraries.mpich.shared_memory_file import SharedMemoryFile, write_node_tree
from timpani.libraries.mpich.tree_faults import faults
from timpani.libraries.mpich.tree_file import TreeFile
from timpani.libraries.mpich.written_tree import write_tree
from timpani.libraries.tuning_file import Written
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, Rule, SelectionTable, Span

NAMED = node_algorithms(read_variables((DATA / "cvars-5.0.2.jsonl").read_text()))
CATALOGUE = Catalogue("mpich", "5.0.2", NAMED)
KEY = "algorithm=MPIDI_POSIX_mpi_{}_release_gather"
SHARED, MESSAGES = Algorithm("mpich", "posix_release_gather"), Algorithm("mpich", "posix_mpir")


def within(key: str, collective: str = "bcast") -> Branch:
    inside = Branch("comm_type=intra", (Branch("is_multi_threaded=no", (Branch(key),)),))
    return Branch(f"collective={collective}", (inside,))


def text_of(key: str, collective: str = "bcast") -> str:
    return dump((within(key, collective),))


OF_NODE = tuple(within(KEY.format(name), name) for name in ("bcast", "barrier", "allreduce", "reduce"))
READING = replace(
    LIBRARY,
    trees={**LIBRARY.trees, "shared memory": OF_NODE},
    choices={
        **LIBRARY.choices,
        "shared memory": frozenset(KEY.format(name) for name in ("bcast", "barrier", "allreduce", "reduce")),
    },
)


def written(*rules: Rule) -> Written:
    return write_node_tree(SelectionTable("mpich", "5.0.2", rules), READING, CATALOGUE)


@pytest.mark.parametrize("version", ["4.0.2", "5.0.2"])
def test_the_device_has_two_algorithms_for_four_collectives(version: str) -> None:
    found = node_algorithms(read_variables((DATA / f"cvars-{version}.jsonl").read_text()))
    assert sorted(found) == ["allreduce", "barrier", "bcast", "reduce"]
    assert {info.name for infos in found.values() for info in infos} == {"posix_release_gather", "posix_mpir"}


def test_the_variable_of_the_device_is_set_and_compositions_stay() -> None:
    info = replace(NAMED["bcast"][1], value="0")  # as the library numbers it
    selected = selection(MPI, info, MESSAGES)
    assert dict(selected.at_call) == {"MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM": 0, "MPIR_CVAR_COLLECTIVE_FALLBACK": 0}
    assert setting(MPI, info, MESSAGES) == (("MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", "mpir"),)


def test_messages_are_what_remains_where_the_tree_names_nothing() -> None:
    file = written(Rule("bcast", MESSAGES, Span(2, 8), Span(1, 1), sizes=Span(1024, 4095)))
    choice = SharedMemoryFile().read(file.text, CATALOGUE)
    sizes = (1023, 1024, 4095, 4096)
    found = [choice.decide(Call("bcast", 8, 1, 8, size)) for size in sizes]
    assert found == [SHARED, MESSAGES, MESSAGES, SHARED]
    assert choice.decide(Call("bcast", 9, 1, 9, 1024)) == SHARED
    assert choice.decide(Call("bcast", 4, 4, 1, 1024)) is None  # no ranks share a node
    assert choice.decide(Call("alltoall", 8, 1, 8, 1024)) is None
    assert list(faults(parse(file.text), READING, "shared memory")) == []
    assert file.said.decide(Call("bcast", 8, 1, 8, 1024)) == MESSAGES


def test_ranks_per_node_are_asked_and_nodes_are_not() -> None:
    rule = Rule("reduce", MESSAGES, Span(8, 8), Span(2, 2), Span(4, 4))
    file = written(rule)
    choice = SharedMemoryFile().read(file.text, CATALOGUE)
    calls = [Call("reduce", nodes * each, nodes, each, 8) for nodes, each in ((2, 4), (9, 4), (2, 8))]
    assert [choice.decide(call) for call in calls] == [MESSAGES, MESSAGES, SHARED]
    assert [(each.rule, "can't count nodes" in each.why) for each in file.left_out] == [(rule, True)]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ((Rule("bcast", MESSAGES),), "ranks on a node is unknown"),
        ((Rule("bcast", MESSAGES, Span(8, 8), Span(2, 4)),), "ranks on a node is unknown"),
        ((Rule("barrier", MESSAGES, Span(4, 4), Span(1, 1), sizes=Span(1, 2)),), "can't ask the size of a barrier"),
        ((Rule("bcast", Algorithm("mpich", "posix_frog"), Span(4, 4), Span(1, 1)),), "posix_frog"),
        ((Rule("alltoall", MESSAGES, Span(4, 4), Span(1, 1)),), "no alltoall"),
    ],
)
def test_rules_that_a_tree_cannot_express_are_left_out_and_named(rules: tuple[Rule, ...], why: str) -> None:
    file = written(*rules)
    assert file.said.rules == ()
    assert [why in each.why for each in file.left_out] == [True]


def test_rules_that_differ_by_nodes_alone_are_left_out() -> None:
    on_two = Rule("bcast", MESSAGES, Span(8, 8), Span(2, 2), Span(4, 4))
    on_one = Rule("bcast", SHARED, Span(4, 4), Span(1, 1), Span(4, 4))
    file = written(on_two, on_one)
    assert file.said.rules == ()
    assert [each.rule for each in file.left_out] == [on_two, on_one]


def test_each_file_has_the_rules_of_its_tree_and_is_silent_on_others() -> None:
    rule = Rule("bcast", MESSAGES, Span(4, 4), Span(1, 1))
    other = write_tree(SelectionTable("mpich", "5.0.2", (rule,)), READING, CATALOGUE)
    assert (other.said.rules, other.left_out) == ((), ())
    selected = written(Rule("bcast", Algorithm("mpich", "binomial"), Span(4, 4), Span(1, 1)))
    assert (selected.said.rules, selected.left_out) == ((), ())


def test_a_library_without_shared_memory_gets_no_file_and_lint_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timpani.libraries.mpich.shared_memory_file.embedded_trees", lambda mpi: LIBRARY)
    rule = Rule("bcast", MESSAGES, Span(4, 4), Span(1, 1))
    file = SharedMemoryFile()
    assert file.write(SelectionTable("mpich", "5.0.2", (rule,)), CATALOGUE, MPI).said.rules == ()
    [fault] = file.lint(text_of(KEY.format("bcast")), CATALOGUE, MPI)
    assert (fault.severity, fault.consequence) == ("error", "it never reads this file")
    with pytest.raises(UserError, match="never reads this file"):
        file.read(text_of(KEY.format("bcast")), Catalogue("mpich", "5.0.2", {}))


@pytest.mark.parametrize(
    ("key", "collective", "what"),
    [
        (KEY.format("bcast"), "bcast", ""),
        (KEY.format("frog"), "bcast", "this library has no"),
        (KEY.format("barrier"), "bcast", "which is of another collective"),
        (KEY.format("bcast"), "frog", "the library has no collective 'frog'"),
        ("algorithm=MPIR_Bcast_intra_binomial", "bcast", "is no algorithm of this tree's"),
    ],
)
def test_a_tree_of_shared_memory_is_checked_as_such(
    key: str, collective: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("shared_memory_file", "tree_file"):
        monkeypatch.setattr(f"timpani.libraries.mpich.{module}.embedded_trees", lambda mpi: READING)
    found = list(SharedMemoryFile().lint(text_of(key, collective), CATALOGUE, MPI))
    assert [(each.severity, what in each.what) for each in found] == ([("error", True)] if what else [])


def test_an_algorithm_in_the_wrong_tree_names_the_right_variable() -> None:
    text = text_of(KEY.format("bcast"))
    files = (SharedMemoryFile(), TreeFile(), CompositionsFile())
    assert [each.recognizes(text) for each in files] == [True, False, False]
    [fault] = [each for each in faults(parse(text), LIBRARY) if each.line]
    assert "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE" in fault.fix
    with pytest.raises(UserError, match="nothing is below"):
        SharedMemoryFile().read(dump((Branch("collective=bcast"),)), CATALOGUE)


@every_mpich
@needs_two_cores
def test_the_library_follows_a_written_file_to_the_byte_or_never_reads_it(mpi: Mpi, tmp_path: Path) -> None:
    """A condition that may not be asked of a broadcast, laid in the place of a rule, ends the calls of the rule alone.

    A build without modules for shared memory, as Debian's of 4.0.2, holds the tree and ends no call.
    """
    known = catalogue(mpi)
    compile_bcast(mpi, tmp_path)
    path = tmp_path / SharedMemoryFile.name
    reads = bool(embedded_trees(mpi).choices["shared memory"])
    assert ("posix_mpir" in {info.name for info in known.algorithms["bcast"]}) == reads
    rule = Rule("bcast", MESSAGES, Span(2, 2), Span(1, 1), sizes=Span(9, 10))
    file = SharedMemoryFile().write(SelectionTable("mpich", mpi.version, (rule,)), known, mpi)
    text = file.text if reads else write_node_tree(SelectionTable("mpich", "", (rule,)), READING, CATALOGUE).text
    assert len(file.said.rules) == reads
    assert bool(list(SharedMemoryFile().lint(text, known, mpi))) == (not reads)
    formats = (SharedMemoryFile(),)
    path.write_text(text)
    assert run(mpi, path, "9", formats=formats) == 0
    path.write_text(dump(with_trap(parse(text))))
    ended = {size: run(mpi, path, str(size), formats=formats) != 0 for size in (8, 9, 10, 11)}
    assert ended == {8: False, 9: reads, 10: reads, 11: False}


def with_trap(tree: Tree) -> Tree:
    """What may not be asked of a broadcast in the place of the condition that never holds."""
    trap = tuple(Branch(f"is_block_regular={word}", (Branch(KEY.format("bcast")),)) for word in ("yes", "no"))
    return tuple(
        Branch(each.key, trap if any(b.key == "comm_type=inter" for b in each.below) else with_trap(each.below))
        for each in tree
    )
