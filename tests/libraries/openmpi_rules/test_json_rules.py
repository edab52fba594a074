"""Rules in JSON for Open MPI 6: what is written is read back, also what depends on nodes; and what a file can't say."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.libraries.openmpi_rules.tuned_tables import CATALOGUES, SIX, check_mangled, check_read_back, mpi
from timpani.libraries.openmpi import LIBRARY
from timpani.libraries.openmpi.classic_rules import ClassicRules, TunedRules
from timpani.libraries.openmpi.han_rules import HanRules
from timpani.libraries.openmpi.json_rules import JsonRulesFile
from timpani.libraries.tuning_file import Written
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

FILE = JsonRulesFile()
CATALOGUE, MPI = CATALOGUES[SIX], mpi(SIX)
LINEAR, BINOMIAL, CHAIN = (Algorithm("openmpi", name) for name in ("linear", "binomial", "chain"))
ONE_NODE = Rule("bcast", LINEAR, Span(8, 8), Span(1, 1), Span(8, 8))
SPREAD = Rule("bcast", CHAIN, Span(8, 8), Span(8, 8), Span(1, 1))
FOUR_NODES = Rule("bcast", BINOMIAL, Span(8, 8), Span(4, 4), Span(2, 2))


def written(*rules: Rule, **fields: Any) -> Written:
    return FILE.write(SelectionTable("openmpi", SIX, rules, **fields), CATALOGUE, MPI)


def entries(file: Written, collective: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.text)["collectives"][collective]
    return found


def possible(call: Call) -> Call:
    """`call` with ranks that can be on its nodes."""
    if call.nodes == 1:
        return replace(call, per_node=call.ranks)
    return replace(call, nodes=call.ranks) if call.per_node == 1 else call


@pytest.mark.slow
@given(data=st.data())
def test_a_written_file_is_read_back(data: st.DataObject) -> None:
    check_read_back(FILE, SIX, data, possible)


@pytest.mark.parametrize("rule", [ONE_NODE, SPREAD])
def test_one_node_and_one_rank_per_node_are_distinguished_from_all_others(rule: Rule) -> None:
    file = written(rule)
    choice = FILE.read(file.text, CATALOGUE)
    chosen = {
        nodes: choice.decide(Call("bcast", 8, nodes, per_node, 64)) for nodes, per_node in ((1, 8), (4, 2), (8, 1))
    }
    assert not file.left_out
    assert {nodes: found for nodes, found in chosen.items() if found} == {rule.nodes.first: rule.algorithm}


def test_three_distributions_hold_side_by_side_and_the_widest_comes_last() -> None:
    file = written(FOUR_NODES, SPREAD, ONE_NODE)
    assert [(each["comm_rank_distribution"], each["rules"][0]["alg"]) for each in entries(file, "bcast")] == [
        ("single-node", "basic_linear"),
        ("one-per-node", "chain"),
        ("any", "binomial"),
    ]
    [left_out] = file.left_out
    assert left_out.rule == FOUR_NODES
    assert left_out.why.endswith("to any 8 ranks on several nodes with several ranks on a node")


def test_a_rule_for_several_nodes_has_empty_entries_before_it() -> None:
    file = written(replace(FOUR_NODES, nodes=Span(2), per_node=Span(2)))
    assert [(each["comm_rank_distribution"], len(each["rules"])) for each in entries(file, "bcast")] == [
        ("single-node", 0),
        ("one-per-node", 0),
        ("any", 1),
    ]
    assert FILE.read(file.text, CATALOGUE).decide(Call("bcast", 8, 1, 8, 64)) is None


def test_rules_that_do_not_depend_on_nodes_have_one_entry() -> None:
    file = written(Rule("bcast", LINEAR, Span(4, 16), sizes=Span(64, 4096)))
    assert entries(file, "bcast") == [
        {
            "comm_size_min": 4,
            "comm_size_max": 16,
            "comm_rank_distribution": "any",
            "rules": [{"msg_size_min": 64, "msg_size_max": 4096, "alg": "basic_linear"}],
        }
    ]
    assert file.said.rules == (Rule("bcast", LINEAR, Span(4, 16), sizes=Span(64, 4096)),)


def test_node_counts_that_differ_are_left_out_and_named() -> None:
    two_nodes = replace(FOUR_NODES, nodes=Span(2, 2), per_node=Span(4, 4), algorithm=LINEAR)
    file = written(FOUR_NODES, two_nodes)
    assert file.said.rules == ()
    assert "can't distinguish 4 nodes of 2 ranks from 2 nodes of 4 ranks, where linear" in file.left_out[0].why


def test_parameters_have_the_names_that_the_reader_uses() -> None:
    chain = Algorithm("openmpi", "chain", (("segment_bytes", 8192),))
    sync = Algorithm("openmpi", "linear_sync", (("max_requests", 4),))
    radix = Algorithm("openmpi", "knomial", (("fanout", 8),))
    file = written(Rule("bcast", chain), Rule("alltoall", sync), Rule("reduce", radix), Rule("reduce_scatter", LINEAR))
    assert entries(file, "bcast")[0]["rules"] == [
        {"msg_size_min": 0, "alg": "chain", "faninout": 4, "seg_size": 8192}  # 4 is the library's default
    ]
    assert entries(file, "alltoall")[0]["rules"] == [{"msg_size_min": 0, "alg": "linear_sync", "reqs": 4}]
    assert entries(file, "reduce")[0]["rules"] == [{"msg_size_min": 0, "alg": "knomial", "faninout": 8}]
    assert [each.rule.collective for each in file.left_out] == ["reduce_scatter"]  # which has no `linear`
    ring = written(Rule("reduce_scatter", Algorithm("openmpi", "ring")))
    assert entries(ring, "reduce_scatter")[0]["rules"] == [{"msg_size_min": 0, "alg": "ring"}]


def test_the_algorithm_that_the_library_calls_default_is_named_so() -> None:
    file = written(Rule("allgatherv", Algorithm("openmpi", "gather_bcast")))
    assert entries(file, "allgatherv")[0]["rules"][0]["alg"] == "default"
    assert FILE.read(file.text, CATALOGUE).decide(Call("allgatherv", 4, 1, 4, 8)) == file.said.rules[0].algorithm


def test_numbers_name_algorithms_too_and_unknown_ones_are_skipped() -> None:
    rules = '[{"alg": "no_such"}, {"msg_size_max": 9, "alg": 1}, {"msg_size_max": 99, "alg": "0x6"}, {"alg": "CHAIN"}]'
    choice = FILE.read(f'{{"collectives": {{"bcast": [{{"rules": {rules}}}]}}}}', CATALOGUE)
    sizes = (9, 10, 100)
    chosen = [choice.decide(Call("bcast", 4, 1, 4, size)) for size in sizes]
    # A chain without `faninout` has fan-out 0, not the default.
    assert chosen == [LINEAR, BINOMIAL, Algorithm("openmpi", "chain", (("chain_fanout", 0),))]


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("4.1.4", ["openmpi-tuned.conf"]),
        ("5.0.11", ["openmpi-tuned.conf", "openmpi-han.conf"]),
        (SIX, ["openmpi-tuned.json", "openmpi-han.conf"]),
        ("6.1.0a1", ["openmpi-tuned.json", "openmpi-han.conf"]),
    ],
)
def test_each_version_gets_the_files_that_it_reads(version: str, names: list[str]) -> None:
    assert [each.name for each in LIBRARY.files.tuning if each.is_read_by(mpi(version))] == names


def test_han_delegates_only_what_rules_choose_on_several_nodes() -> None:
    def delegated(*rules: Rule) -> tuple[str, ...]:
        table = SelectionTable("openmpi", SIX, rules)
        return tuple(rule.collective for rule in HanRules().write(table, CATALOGUE, MPI).said.rules)

    alltoall = Rule("alltoall", LINEAR, Span(8, 8), nodes=Span(4, 4))
    assert delegated(ONE_NODE) == ()
    assert delegated(ONE_NODE, SPREAD, FOUR_NODES) == ("bcast",)
    assert delegated(alltoall) == ("alltoall",)  # HAN takes it since 6.0


def test_version_6_reads_classic_rules_of_several_sizes_one_entry_too_low() -> None:
    rule = Rule("bcast", LINEAR, Span(4, 4))
    text = TunedRules().write(SelectionTable("openmpi", "5.0.11", (rule,)), CATALOGUES["5.0.11"], mpi("5.0.11")).text
    file = ClassicRules()
    choice = file.read(text, CATALOGUE)
    assert file.recognizes(text)
    assert not file.recognizes("{}")
    assert [ranks for ranks in range(2, 8) if choice.decide(Call("bcast", ranks, 1, ranks, 64))] == [2, 3]
    assert "from 0 to 3" in next(each.consequence for each in file.lint(text, CATALOGUE, MPI))
    everywhere = "1\n7\n1\n0 1\n0 1 0 0\n"
    assert file.read(everywhere, CATALOGUE).decide(Call("bcast", 9, 1, 9, 64)) == LINEAR
    assert not [each for each in file.lint(everywhere, CATALOGUE, MPI) if each.severity == "error"]


def test_mangled_files_are_refused_in_one_line_or_read() -> None:
    whole = written(ONE_NODE, SPREAD, Rule("allgather", Algorithm("openmpi", "ring"), ALL, sizes=Span(0, 0))).text
    pool = [*'{}[],:"0123456789-.eE \n\t\\\0é', '"rules"', "null", "true", "1e9", "9" * 30, '"inf"', "[[[[", '{"a":']
    check_mangled(FILE, SIX, whole, pool, Call("bcast", 8, 1, 8, 5000))
