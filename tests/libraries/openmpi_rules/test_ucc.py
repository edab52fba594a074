"""UCC's configuration: written from a table, read back, and checked. UCC itself is not asked."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.libraries.openmpi_rules.tuned_tables import CATALOGUES, calls, mpi, spans
from timpani.errors import UserError
from timpani.libraries.openmpi.ucc_rules import ucc_file
from timpani.libraries.openmpi.ucc_rules.lint_ucc import lint_configuration
from timpani.libraries.openmpi.ucc_rules.tune_value import parse_value
from timpani.libraries.openmpi.ucc_rules.ucc_file import UccFile
from timpani.libraries.openmpi.ucc_rules.ucp_algorithms import COLLECTIVES, NAMES
from timpani.libraries.openmpi.ucc_rules.write_ucc import write_configuration
from timpani.libraries.tuning_file import Written
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

FILE = UccFile()
CATALOGUE = CATALOGUES["5.0.11"]
RING = Algorithm("openmpi", "ring")


def written(*rules: Rule) -> Written:
    return write_configuration(SelectionTable("openmpi", "5.0.11", rules), CATALOGUE)


@st.composite
def tables(draw: st.DrawFn) -> SelectionTable:
    """Rules that UCC can be given."""
    rules = []
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(sorted(COLLECTIVES)))
        collective = COLLECTIVES[name]
        algorithm = Algorithm("openmpi", draw(st.sampled_from(sorted(collective.algorithms))))
        sizes = (
            ALL
            if collective.unit == "nothing"
            else draw(st.just(ALL) | spans(2**20).filter(lambda span: span.first != 1 and span.last != 0))
        )
        ranks = draw(spans(32))
        if collective.unit == "blocks":
            ranks = Span(ranks.first, ranks.first + 9) if ranks.last is None else ranks
        rules.append(Rule(name, algorithm, ranks, draw(spans(4)), draw(spans(4)), sizes))
    return SelectionTable("openmpi", "5.0.11", tuple(rules))


def evenly(call: Call) -> Call:
    """`call` with its ranks spread evenly over its nodes."""
    nodes = min(call.nodes, call.ranks)
    return replace(call, nodes=nodes, per_node=ceil(call.ranks / nodes))


@pytest.mark.slow
@given(data=st.data())
def test_a_written_file_is_read_back(data: st.DataObject) -> None:
    table = data.draw(tables())
    file = written(*table.rules)
    choice = FILE.read(file.text, CATALOGUE)
    assert list(lint_configuration(file.text)) == []
    for call in map(evenly, data.draw(st.lists(calls(table), min_size=1, max_size=5))):
        chosen, rule = choice.decide(call), table.decide(call)
        assert chosen == file.said.decide(call)
        assert (chosen is None) == (rule is None)


def test_a_section_asks_for_ranks_nodes_and_ranks_per_node() -> None:
    file = written(Rule("alltoall", Algorithm("openmpi", "bruck"), Span(8, 8), Span(2, 2), Span(4, 4), Span(0, 64)))
    lines = [line for line in file.text.splitlines() if line and not line.startswith("#")]
    assert lines == ["[team_size=8 ppn=4 nnodes=2]", "UCC_TL_UCP_TUNE=alltoall:0-519:host:@bruck"]
    assert file.text.startswith("# NOT TRIED")


def test_a_binomial_tree_is_a_k_nomial_one_whose_radix_holds_for_all_sizes() -> None:
    rule = Rule("bcast", Algorithm("openmpi", "binomial"), Span(8, 8), sizes=Span(64, 4096))
    file = written(rule)
    assert "UCC_TL_UCP_BCAST_KN_RADIX=2\nUCC_TL_UCP_TUNE=bcast:63-4096:host:@knomial\n" in file.text
    assert [(each.rule, "holds for all sizes" in each.why) for each in file.left_out] == [(rule, True)]


def test_a_range_begins_before_the_first_size_of_its_rule() -> None:
    """UCC's parser and scores gave these answers, compiled from its sources (1.8.0)."""
    ring = Rule("allreduce", RING, sizes=Span(4096, 8191))
    assert "UCC_TL_UCP_TUNE=allreduce:4095-8191:host:@ring\n" in written(ring).text
    assert "UCC_TL_UCP_TUNE=allreduce:63-64:host:@ring\n" in written(replace(ring, sizes=Span(64, 64))).text
    choice = FILE.read("UCC_TL_UCP_TUNE=bcast:0-4095:host:@knomial#bcast:4096-8191:host:@dbt", CATALOGUE)
    chosen = {size: choice.decide(Call("bcast", 8, 1, 8, size)) for size in (0, 4095, 4096, 4097, 8191, 8192)}
    assert [size for size, algorithm in chosen.items() if algorithm is None] == [4096, 8192]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule("bcast", Algorithm("openmpi", "chain")), "no algorithm that is known"),
        (Rule("scan", Algorithm("openmpi", "linear")), "no algorithm that is known"),
        (Rule("allgather", Algorithm("timpani", "ring")), "no algorithm that is known"),
        (Rule("alltoallv", Algorithm("openmpi", "pairwise"), sizes=Span(0, 9)), "no size of alltoallv"),
        (Rule("allgather", RING, sizes=Span(0, 9)), "a section for each number of ranks"),
        (Rule("allreduce", RING, sizes=Span(0, 0)), "distinguishes 0 B from 1 B"),
    ],
)
def test_rules_that_ucc_cannot_express_are_left_out_and_named(rule: Rule, why: str) -> None:
    file = written(rule)
    assert file.said.rules == ()
    assert [why in each.why for each in file.left_out] == [True]


def test_the_file_is_written_only_where_open_mpi_has_ucc_and_never_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    table = SelectionTable("openmpi", "5.0.11", (Rule("allreduce", RING, Span(4, 4)),))
    for has_ucc, components in ((True, {"ucc"}), (False, {"tuned"})):
        monkeypatch.setattr(ucc_file, "components_of", lambda mpi, found=components: {"coll": found})
        file = FILE.write(table, CATALOGUE, mpi("5.0.11"))
        assert (len(file.said.rules), file.left_out) == (has_ucc, ())
    assert FILE.switch_on(mpi("5.0.11").mpirun, "", mpi("5.0.11")) == ()


def test_values_of_a_site_are_read_in_any_order_with_units() -> None:
    [first, second, third] = parse_value("ALLREDUCE:0-4k:@0#@sra_knomial:[2,8-inf]:4K-inf:allreduce#bcast:inf:cuda")
    assert (first.sizes, first.algorithm) == ((Span(0, 4096),), "0")
    assert (second.teams, second.sizes) == ((Span(2, 2), Span(8, None)), (Span(4096, None),))
    assert (third.score, third.algorithm) == ("inf", "")
    choice = FILE.read("UCC_TL_UCP_TUNE=allreduce:0-4k:@0#allreduce:[8]:4k-inf:@ring", CATALOGUE)
    sizes = [choice.decide(Call("allreduce", 8, 1, 8, size)) for size in (4096, 4097)]
    assert sizes == [Algorithm("openmpi", "ucc_knomial"), Algorithm("openmpi", "ucc_ring")]
    assert choice.decide(Call("allreduce", 4, 1, 4, 4097)) is None


@pytest.mark.parametrize(
    ("text", "severity", "what"),
    [
        ("UCC_TL_UCP_TUNE=allreduce:@sra", "error", "no allreduce algorithm sra"),
        ("UCC_TL_UCP_TUNE=allreduce:@5", "error", "no allreduce algorithm 5"),
        ("UCC_TL_UCP_TUNE=allreduce:0-4x:@ring", "error", "'0-4x' in"),
        ("UCC_TL_UCP_TUNE=allreduce:@ring:@knomial", "error", "'@knomial' in"),
        ("UCC_TL_UCP_TUNE=allreduce:@ring#", "error", "can't be read"),
        ("UCC_TL_UCP_TUNE=allreduce:[9-8]:@ring", "error", "'[9-8]' in"),
        ("UCC_TL_UCP_TUNE=0-4k:@ring", "error", "names an algorithm and no collective"),
        ("UCC_TL_UCP_TUNE=scatter:@linear", "error", "no scatter algorithm linear"),
        ("TL_UCP_TUNE=allreduce:@ring\nUCC_LOG_LEVEL=info", "error", "no variable of UCC's"),
        ("[teamsize=8]\nUCC_TL_UCP_TUNE=allreduce:@ring", "error", "a section with 'teamsize=8'"),
        ("[team_size=8 ppn=x]\nUCC_TL_UCP_TUNE=allreduce:@ring", "error", "a section with 'ppn=x'"),
        ("UCC_TL_UCP_TUNE allreduce", "error", "neither a section nor a setting"),
        ("[ppn=8-4]\nUCC_TL_UCP_TUNE=allreduce:@ring", "warning", "ppn=8-4 is reversed"),
        ("UCC_TL_UCP_TUNE=allreduce:8k-4k:@ring", "error", "is empty"),
        ("UCC_TL_UCP_TUNE=allreduce:4k-4k:@ring", "error", "is empty"),
        ("UCC_TL_UCP_TUNE=bcast:0-4095:@0#bcast:4096-inf:@1", "warning", "from 4096 B follow sizes up to 4095 B"),
        ("UCC_TL_UCP_TUNE=allreduce:0-4k", "warning", "neither a score nor an algorithm"),
        ("UCC_TL_UCP_TUNE=alltoallv:4k-inf:@hybrid", "warning", "sizes of alltoallv"),
        ("UCC_TL_UCP_TUNE=allreduce:0-8k:@0#allreduce:4k-inf:@1", "warning", "share sizes"),
        ("UCC_TL_UCP_TUNE=allreduce:@0\nUCC_TL_UCP_TUNE=bcast:@0", "warning", "stands twice"),
        (
            "[ppn=8]\nUCC_TL_UCP_TUNE=bcast:@0\n[nnodes=2]\nUCC_TL_UCP_TUNE=bcast:@1",
            "warning",
            "may hold together with that in line 1",
        ),
    ],
)
def test_lint_names_what_ucc_refuses_or_reads_in_another_way(text: str, severity: str, what: str) -> None:
    assert [(each.severity, what in each.what) for each in lint_configuration(text)] == [(severity, True)]
    if severity == "error":
        with pytest.raises(UserError):
            FILE.read(text, CATALOGUE)


def test_a_boundary_that_two_neighbors_share_is_no_fault() -> None:
    text = "[vendor=intel model=broadwell team_size=28 ppn=28 nnodes=1]\nUCC_TL_UCP_TUNE=bcast:0-4k:@0#bcast:4k-inf:@1"
    assert list(lint_configuration(text)) == []
    assert FILE.recognizes(text)
    assert FILE.recognizes("# mine\nexport UCC_TL_UCP_TUNE='allreduce:@ring'")
    assert not FILE.recognizes("1\n7\n1\n0 1\n0 1 0 0\n")
    assert not FILE.recognizes('{"collectives": {}}')


def test_every_algorithm_that_is_written_exists() -> None:
    for collective in COLLECTIVES.values():
        assert {each.name for each in collective.algorithms.values()} <= set(NAMES[collective.name])
