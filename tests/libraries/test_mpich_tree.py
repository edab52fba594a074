"""MPICH's selection tree: written, read, checked, and asked of the library installed here."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.installed import every_mpich, needs_two_cores
from tests.libraries.counted import ran
from tests.libraries.test_mpich import MPI, recorded
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.library import LaunchRequest
from timpani.libraries.mpich.algorithms import catalogue
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees, embedded_trees
from timpani.libraries.mpich.selection_tree import Branch, Tree, dump, parse
from timpani.libraries.mpich.tree_faults import faults
from timpani.libraries.mpich.tree_file import CompositionsFile, TreeFile, write_compositions
from timpani.libraries.mpich.written_tree import write_tree
from timpani.libraries.tuning_file import TuningFile
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

CATALOGUE = Catalogue("mpich", "5.0.2", recorded("5.0.2"))


def leaf_branch(collective: str, name: str) -> Branch:
    return Branch(f"algorithm=MPIR_{collective.capitalize()}_intra_{name}")


def own(collective: str, *within: Branch) -> Branch:
    inter = Branch(f"algorithm=MPIR_{collective.capitalize()}_inter_other")
    return Branch(f"collective={collective}", (Branch("comm_type=intra", within), Branch("comm_type=inter", (inter,))))


def by_operator(collective: str, commutative: str, other: str) -> Branch:
    return own(
        collective,
        Branch("is_commutative=yes", (leaf_branch(collective, commutative),)),
        Branch("is_commutative=no", (leaf_branch(collective, other),)),
    )


def on_powers(collective: str) -> Branch:
    return Branch("comm_size=pow2", (leaf_branch(collective, "recursive_doubling"),))


def split_by_size(collective: str, small: str, large: str, quantity: str, *before: Branch) -> Branch:
    return own(
        collective,
        *before,
        Branch("comm_size<8", (leaf_branch(collective, small),)),
        Branch(
            "comm_size=any",
            (
                Branch(f"{quantity}<=4096", (leaf_branch(collective, small),)),
                Branch(f"{quantity}=any", (leaf_branch(collective, large),)),
            ),
        ),
    )


OWN = (
    split_by_size("bcast", "binomial", "scatter_ring_allgather", "avg_msg_size"),
    split_by_size("allgather", "brucks", "ring", "total_msg_size", on_powers("allgather")),
    split_by_size("allgatherv", "brucks", "ring", "total_msg_size"),
    own(
        "alltoall",
        Branch("is_sendbuf_inplace=yes", (leaf_branch("alltoall", "pairwise_sendrecv_replace"),)),
        Branch(
            "is_sendbuf_inplace=no",
            (
                Branch("comm_size<8", (leaf_branch("alltoall", "scattered"),)),
                Branch("comm_size=any", (leaf_branch("alltoall", "brucks"),)),
            ),
        ),
    ),
    own(
        "allreduce",
        Branch("count<pow2", (leaf_branch("allreduce", "recursive_doubling"),)),
        Branch("count=any", (leaf_branch("allreduce", "reduce_scatter_allgather"),)),
    ),
    own("reduce", leaf_branch("reduce", "binomial")),
    by_operator("reduce_scatter", "recursive_halving", "recursive_doubling"),
    by_operator("reduce_scatter_block", "pairwise", "recursive_doubling"),
    Branch(
        "collective=scan",
        (
            Branch("is_node_consecutive=yes", (leaf_branch("scan", "smp"),)),
            Branch("is_node_consecutive=no", (leaf_branch("scan", "recursive_doubling"),)),
        ),
    ),
    own("gather", leaf_branch("gather", "binomial")),
    own(
        "barrier",
        Branch("comm_hierarchy=parent", (leaf_branch("barrier", "smp"),)),
        Branch("comm_hierarchy=any", (Branch(leaf_branch("barrier", "k_dissemination").key, (Branch("k=2"),)),)),
    ),
)
LIBRARY = EmbeddedTrees(
    {"algorithms": OWN, "compositions": ()},
    {
        "algorithms": frozenset(leaf_branch(info.collective, info.library_name).key for info in CATALOGUE)
        | {f"algorithm=MPIR_{c.capitalize()}_inter_other" for c in CATALOGUE.algorithms},
        "compositions": frozenset(),
    },
    frozenset({"scatterv_k=", "chunk_size=", "tree_type=", "is_non_blocking=", "recv_pre_posted=", "buffer_per_child="})
    | {"single_phase_recv="},
)
SIZES = (0, 1, 7, 8, 4095, 4096, 4097, 65536, 2**20)


def spans(numbers: st.SearchStrategy[int], width: int) -> st.SearchStrategy[Span]:
    bounded = st.builds(lambda first, more: Span(first, first + more), numbers, st.integers(0, width))
    return st.one_of(st.just(ALL), bounded, st.builds(Span, numbers))


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    info = draw(st.sampled_from(list(CATALOGUE)))
    parameters = [(each.name, each.default + 2) for each in info.parameters if draw(st.booleans())]
    algorithm = Algorithm("mpich", info.name, tuple(sorted(parameters)))
    counts = st.sampled_from((Span(1, 1), Span(2, 2), Span(2), Span(4, 4)))
    return Rule(
        info.collective,
        algorithm,
        ranks=draw(spans(st.integers(1, 40), 20)),
        nodes=draw(st.just(ALL) | counts),
        per_node=draw(st.just(ALL) | counts),
        sizes=draw(spans(st.sampled_from(SIZES), 5000)),
    )


calls = st.builds(
    lambda collective, nodes, per_node, size: Call(collective, nodes * per_node, nodes, per_node, size),
    *(st.sampled_from(sorted(CATALOGUE.algorithms)), st.integers(1, 5), st.integers(1, 9)),
    st.sampled_from(sorted({size + by for size in SIZES for by in (-1, 0, 1) if size + by >= 0})),
).filter(lambda call: call.ranks > 1)  # one rank sends nothing


def at_edges(rule: Rule) -> Iterator[Call]:
    """Calls at the ends of a rule's ranks and sizes, and one beyond, on one node and on two."""
    spans = (rule.ranks, rule.sizes)
    ranks, sizes = ({end + by for end in (s.first, s.last or s.first) for by in (-1, 0, 1)} for s in spans)
    for count in ranks:
        for size in sizes:
            if count > 1 and size >= 0:
                yield Call(rule.collective, count, 1, count, size)
            if count > 1 and size >= 0 and count % 2 == 0:
                yield Call(rule.collective, count, 2, count // 2, size)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(rules(), max_size=6), st.lists(calls, min_size=30, max_size=30))
def test_the_file_decides_as_the_table_does_and_else_as_the_library(given_rules: list[Rule], asked: list[Call]) -> None:
    table = SelectionTable("mpich", "5.0.2", tuple(given_rules))
    written = write_tree(table, LIBRARY, CATALOGUE)
    file = TreeFile().read(written.text, CATALOGUE)
    library = TreeFile().read(dump(OWN), CATALOGUE)
    for call in chain(asked, *map(at_edges, given_rules)):
        said = written.said.decide(call)
        assert file.decide(call) == (said or library.decide(call)), call
        if not written.left_out:
            assert said == table.decide(call)
    assert [each for each in faults(parse(written.text), LIBRARY) if each.severity == "error"] == []


def composed(collective: str, *within: tuple[str, str]) -> Branch:
    name = f"composition=MPIDI_{collective.capitalize()}_intra_composition_"
    branches = tuple(Branch(key, (Branch(name + which),)) for key, which in within)
    return Branch(f"collective={collective}", (Branch("comm_type=intra", branches or (Branch(name + "alpha"),)),))


COMPOSITIONS = (
    composed("bcast", ("comm_size<8", "alpha"), ("comm_size=any", "gamma")),
    composed("allreduce", ("is_commutative=yes", "alpha"), ("is_commutative=no", "beta")),
    *(composed(name) for name in ("allgather", "alltoall", "reduce", "reduce_scatter", "gather")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(rules(), max_size=6), st.lists(calls, min_size=30, max_size=30))
def test_compositions_give_way_where_a_rule_is_and_nowhere_else(given_rules: list[Rule], asked: list[Call]) -> None:
    """Small calls without a rule keep what the device has for them: taking it from the collective cost factors."""
    table = SelectionTable("mpich", "5.0.2", tuple(given_rules))
    library = replace(LIBRARY, trees={**LIBRARY.trees, "compositions": COMPOSITIONS})
    text = write_compositions(table, library, CATALOGUE).text
    file, own_file = (CompositionsFile().read(each, CATALOGUE) for each in (text, dump(COMPOSITIONS)))
    said = write_tree(table, library, CATALOGUE).said
    for call in chain(asked, *map(at_edges, given_rules)):
        assert file.decide(call) == (None if said.decide(call) else own_file.decide(call)), call


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule("barrier", Algorithm("mpich", "recexch")), "parameters that the tree must give it are unknown"),
        (Rule("alltoall", Algorithm("mpich", "pairwise_sendrecv_replace")), "in place only"),
        (Rule("scan", Algorithm("mpich", "smp")), "commutative"),
        (Rule("gather", Algorithm("mpich", "binomial"), sizes=Span(8)), "can't ask the size of a gather"),
        (Rule("allgather", Algorithm("mpich", "ring"), sizes=Span(8)), "each number of ranks"),
        (Rule("bcast", Algorithm("mpich", "binomial"), nodes=Span(4, 4)), "can't count nodes"),
        (Rule("bcast", Algorithm("mpich", "binomial"), sizes=Span(0, 2**31)), "limits end at 2147483647"),
        (Rule("allgather", Algorithm("mpich", "recursive_doubling"), ranks=Span(2, 8)), "runs fewer calls"),
        (Rule("barrier", Algorithm("mpich", "smp")), "runs fewer calls"),
    ],
)
def test_rules_that_a_tree_cannot_express_are_named(rule: Rule, why: str) -> None:
    written = write_tree(SelectionTable("mpich", "5.0.2", (rule,)), LIBRARY, CATALOGUE)
    assert [each.rule for each in written.left_out] == [rule]
    assert why in written.left_out[0].why


def test_the_librarys_less_than_keeps_its_meaning_below_a_condition_on_the_call() -> None:
    """`comm_size<8` is met by 8 ranks there: ran on 4.0.2 and 5.0.2."""
    given_rules = tuple(
        Rule(collective, Algorithm("mpich", name), sizes=Span(8, 8))
        for collective, name in (("alltoall", "bruck"), ("bcast", "binomial"))
    )
    written = write_tree(SelectionTable("mpich", "5.0.2", given_rules), LIBRARY, CATALOGUE)
    assert written.left_out == ()
    choice = TreeFile().read(written.text, CATALOGUE)
    assert choice.decide(Call("alltoall", 8, 1, 8, 9)) == Algorithm("mpich", "scattered")
    assert choice.decide(Call("alltoall", 9, 1, 9, 9)) == Algorithm("mpich", "bruck")
    assert choice.decide(Call("bcast", 8, 1, 8, 10**6)) == Algorithm("mpich", "scatter_allgather_ring")


def test_calls_that_are_not_measured_stay_with_the_library() -> None:
    """A tree's choice is not checked: Rabenseifner with a user's operator, or few elements, would be wrong."""
    rule = Rule("allreduce", Algorithm("mpich", "rabenseifner"), Span(4, 4), sizes=Span(8, 64))
    text = write_tree(SelectionTable("mpich", "5.0.2", (rule,)), LIBRARY, CATALOGUE).text
    above = paths(parse(text), leaf_branch("allreduce", "reduce_scatter_allgather").key)
    asked = ("comm_size<=4", "avg_msg_size<=64", "is_commutative=yes", "is_op_built_in=yes", "count=any")
    assert [path for path in above if path[-2] == "is_op_built_in=yes"] == [
        ("collective=allreduce", "comm_type=intra", *asked)
    ]


def paths(tree: Tree, key: str) -> list[tuple[str, ...]]:
    """The keys above each branch `key`."""
    found = [()] if any(each.key == key for each in tree) else []
    return [*found, *((each.key, *path) for each in tree for path in paths(each.below, key))]


TRAPS = {
    "no branch for bcast": lambda: dump(OWN[1:]),
    "a byte order mark": lambda: "\ufeff" + dump(OWN),
    "no branch for all else": lambda: dump(
        (own("bcast", Branch("avg_msg_size<=8", (leaf_branch("bcast", "binomial"),))), *OWN[1:])
    ),
    "an algorithm of bcast for allgather": lambda: dump(OWN).replace("Allgather_intra_brucks", "Bcast_intra_binomial"),
    "is no condition for a allgather": lambda: dump(OWN).replace("total_msg_size<=4096", "avg_msg_size<=4096"),
    "without its parameter k": lambda: dump(OWN).replace("k=2", "l=2"),
    "unknown condition": lambda: dump(OWN).replace("comm_size<8", "comm_size>8"),
    "before other branches": lambda: dump(OWN).replace("comm_size<8", "count=any"),
    "nested deeper": lambda: '{"collective=bcast":' * 100 + "{}" + "}" * 100,
    "below a condition on the call": lambda: dump(OWN),
    "again": lambda: dump(OWN).rstrip()[:-1] + "," + dump(OWN[:1])[1:],
}


@pytest.mark.parametrize("what", TRAPS)
def test_traps_are_found_with_their_line(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timpani.libraries.mpich.tree_file.embedded_trees", lambda mpi: LIBRARY)
    found = [each for each in TreeFile().lint(TRAPS[what](), CATALOGUE, MPI) if what in each.what]
    assert found, what
    assert all(each.consequence and each.fix for each in found)
    assert found[0].line or what == "no branch for bcast"


PROGRAM = """\
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    char buffer[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Bcast(buffer, atoi(argv[1]), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}
"""


def compile_bcast(mpi: Mpi, folder: Path) -> None:
    (folder / "bcast.cpp").write_text(PROGRAM)
    subprocess.run([mpi.cxx, folder / "bcast.cpp", "-o", folder / "bcast"], check=True)


@every_mpich
@needs_two_cores
def test_the_library_follows_a_written_file_to_the_byte(mpi: Mpi, tmp_path: Path) -> None:
    """A condition that may not be asked of a broadcast, laid below a rule's sizes, ends the calls of the rule alone."""
    known = catalogue(mpi)
    rule = Rule("bcast", Algorithm("mpich", "scatter_allgather_ring"), Span(2, 2), Span(1, 1), sizes=Span(9, 10))
    written = TreeFile().write(SelectionTable("mpich", mpi.version, (rule,)), known, mpi)
    assert written.left_out == ()
    assert [each for each in TreeFile().lint(written.text, known, mpi) if each.severity == "error"] == []
    compile_bcast(mpi, tmp_path)
    path = tmp_path / TreeFile.name
    path.write_text(written.text)
    giving_way = CompositionsFile().write(SelectionTable("mpich", mpi.version, (rule,)), known, mpi).text
    assert list(CompositionsFile().lint(giving_way, known, mpi)) == []
    (tmp_path / CompositionsFile.name).write_text(giving_way)
    assert run(mpi, path, "9") == 0
    path.write_text(dump(with_trap(parse(written.text), "avg_msg_size<=10")))
    ended = {size: run(mpi, path, str(size)) != 0 for size in (8, 9, 10, 11)}
    assert ended == {8: False, 9: True, 10: True, 11: False}


def with_trap(tree: Tree, key: str) -> Tree:
    """What may not be asked of a broadcast in the place of all that is below `key`."""
    trap = tuple(Branch(f"is_block_regular={word}", (leaf_branch("bcast", "binomial"),)) for word in ("yes", "no"))
    return tuple(Branch(each.key, trap if each.key == key else with_trap(each.below, key)) for each in tree)


def run(mpi: Mpi, path: Path, *arguments: str, formats: Sequence[TuningFile] = (TreeFile(), CompositionsFile())) -> int:
    """The exit status of the program in the folder of `path`, with the files of these formats there switched on."""
    parameters = tuple(each for file in formats for each in file.switch_on(path.with_name(file.name), "", mpi))
    program = (str(path.parent / "bcast"), *arguments)
    return ran(mpi, LaunchRequest(2, "core", False, parameters, {}, program, folder=path.parent)).returncode


@every_mpich
def test_the_librarys_own_tree_is_found_and_has_no_error(mpi: Mpi) -> None:
    library = embedded_trees(mpi)
    compositions, own_tree = library.trees["compositions"], library.trees["algorithms"]
    assert {f"collective={name}" for name in ("bcast", "allreduce", "alltoall")} <= {b.key for b in compositions}
    assert list(faults(compositions, library, "compositions")) == []
    assert {f.severity for f in faults(compositions, library)} == {"error"}  # it has no algorithms
    assert {f"collective={name}" for name in ("bcast", "allreduce", "ibcast", "alltoall")} <= {b.key for b in own_tree}
    assert [each for each in faults(own_tree, library) if each.severity == "error"] == []
    names = {f"algorithm=MPIR_Bcast_intra_{info.library_name}" for info in catalogue(mpi).algorithms["bcast"]}
    assert names <= library.choices["algorithms"]
