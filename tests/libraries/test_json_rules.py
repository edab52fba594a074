"""Rules in JSON for Open MPI 6: written, read back, what they can't say, and what the library ignores or misreads."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.libraries.tuned_tables import CATALOGUES, SIX, check_mangled, check_read_back, mpi
from timpani.libraries.openmpi import LIBRARY
from timpani.libraries.openmpi.json_rules import JsonRulesFile
from timpani.libraries.tuning_file import Fault, Written
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
@settings(max_examples=40)
@given(data=st.data())
def test_a_written_file_is_read_back(data: st.DataObject) -> None:
    check_read_back(FILE, SIX, data, possible)


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
    choice = FILE.read(file.text, CATALOGUE)
    chosen = [choice.decide(Call("bcast", 8, nodes, 8 // nodes, 64)) for nodes in (1, 8, 4)]
    assert chosen == [LINEAR, CHAIN, BINOMIAL]


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


def test_mangled_files_are_refused_in_one_line_or_read() -> None:
    whole = written(ONE_NODE, SPREAD, Rule("allgather", Algorithm("openmpi", "ring"), ALL, sizes=Span(0, 0))).text
    pool = [*'{}[],:"0123456789-.eE \n\t\\\0é', '"rules"', "null", "true", "1e9", "9" * 30, '"inf"', "[[[[", '{"a":']
    check_mangled(FILE, SIX, whole, pool, Call("bcast", 8, 1, 8, 5000))


TEMPLATE = """{
 "rule_file_version": 3,
 "module": "tuned",
 "collectives": {
  "COLLECTIVE": [
   {"rules": [RULES]}
  ]
 }
}
"""
ONE_ENTRY, ONE_RULE = '   {"rules": [RULES]}', '{"alg": "binomial"}'


def lint(text: str, **installed: object) -> list[Fault]:
    """Without the note on HAN, which is about all files with a collective of HAN's."""
    faults = FILE.lint(text, CATALOGUES[SIX], replace(mpi(SIX), **installed))  # type: ignore[arg-type]
    return [each for each in faults if "coll/han" not in each.what]


def text_of(rules: str = ONE_RULE, collective: str = "bcast", entry: str = ONE_ENTRY) -> str:
    return TEMPLATE.replace(ONE_ENTRY, entry).replace("RULES", rules).replace("COLLECTIVE", collective)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (text_of("{"), 6, "no JSON: ] stands where a key"),
        (text_of('{"alg": 01}'), 6, "no JSON"),
        ('{"module": "tuned"}', 1, "no key collectives"),
        ('{"collectives": []}', 1, "collectives is no object"),
        (text_of(collective="reducescatter"), 5, "unknown collective 'reducescatter'"),
        (text_of(entry='{"comm_size_min": 2}'), 6, "an entry has no rules"),
        (text_of(entry='{"comm_size_min": "2", "rules": []}'), 6, "comm_size_min is no whole number"),
        (text_of(entry='{"comm_rank_distribution": 1, "rules": []}'), 6, "comm_rank_distribution is no text"),
        (text_of('{"alg": 1, "msg_size_max": 99999999999999999999}'), 6, "msg_size_max is no whole number of 64 bits"),
    ],
)
def test_a_fault_that_makes_the_library_ignore_the_file_is_an_error_with_its_line(
    text: str, line: int, what: str
) -> None:
    [fault] = [each for each in lint(text) if each.severity == "error"]
    assert fault.line == line
    assert what in fault.what
    assert "ignores" in fault.consequence


@pytest.mark.parametrize(
    ("text", "what", "consequence"),
    [
        (text_of(collective="gatherv"), "no algorithms for gatherv", "every program ends in MPI_Init"),
        (text_of(entry='{"rules": {"a": 1}}'), "rules of an entry are an object", "segmentation fault"),
        (text_of('{"alg": "knomial"}', "reduce"), "knomial with faninout 0", "never ends"),
        (
            text_of('{"alg": "bruck-k-fanout", "faninout": 1}', "allgather"),
            "bruck-k-fanout with faninout 1",
            "never ends",
        ),
        (text_of('{"alg": "two_proc"}', "allgather"), "two_proc runs on 2 ranks only", "the call fails"),
        (text_of('{"msg_size_max": 99, "alg": "binomial"}', "gather"), "", "different algorithms"),
    ],
)
def test_a_fault_that_ends_a_program_is_an_error(text: str, what: str, consequence: str) -> None:
    [fault] = [each for each in lint(text) if each.severity == "error"]
    assert what in fault.what
    assert consequence in fault.consequence


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (text_of('{"alg": "binomail"}'), "no bcast algorithm binomail"),
        (text_of('{"alg": "chain"}'), "chain with faninout 0"),
        (text_of('{"alg": "chain", "faninout": 4, "seg_size": -1}'), "chain with seg_size -1"),
        (text_of('{"alg": "binomial", "faninout": 4}'), "binomial with faninout 4"),
        (text_of('{"msg_size_min": 9}'), "a rule has no alg"),
        (text_of('{"alg": "binomial", "segsize": 4096}'), "unknown key 'segsize'"),
        (text_of('{"alg": "binomial", "alg": "chain"}'), "the key alg stands 2 times"),
        (
            text_of('{"alg": "binomial"}, {"msg_size_min": 9, "alg": "chain", "faninout": 4}'),
            "fits all sizes of this one",
        ),
        (text_of('{"msg_size_min": 9, "msg_size_max": 8, "alg": "binomial"}'), "msg_size_min 9 exceeds msg_size_max 8"),
        (text_of(entry='{"comm_size_max": "inf", "rules": []}'), "comm_size_max is inf"),
        (text_of(entry=f'{{"rules": [{ONE_RULE}]}}, {{"comm_size_min": 4, "rules": []}}'), "fits all communicators"),
        (
            text_of().replace(' "module"', ' "comm_rank_distribution": "any",\n "module"'),
            "comm_rank_distribution stands at the top",
        ),
        (
            text_of(entry='{"comm_rank_distribution": "one-per-nod", "rules": []}'),
            "comm_rank_distribution 'one-per-nod'",
        ),
        (
            text_of(entry='{"comm_rank_distribution": "one-per-node", "rules": []}'),
            "an entry for one rank on each node",
        ),
        (text_of().replace("3", "4"), "rule_file_version is 4"),
        (text_of(collective='bcast": [], "bcast'), "has rules in line 5 already"),
        (
            text_of('{"msg_size_min": 3, "alg": "ring"}', "allgather", '{"comm_size_min": 4, "rules": [RULES]}'),
            "3 B over 4",
        ),
    ],
)
def test_a_value_that_the_library_misreads_is_a_warning(text: str, what: str) -> None:
    faults = lint(text)
    assert [each.severity for each in faults if what in each.what] == ["warning"]
    assert not [each for each in faults if each.severity == "error"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (text_of('{"alg": "binomial",}'), "a comma before a closing bracket"),
        (text_of(r'{"alg": "bi\nomia\l"}'), "no bcast algorithm bi"),
        (text_of('{"alg": "binomial", "\n": 1}'), "a line end or an unknown escape"),
        ("\ufeff" + text_of(), "a byte order mark"),
    ],
)
def test_json_that_only_the_library_accepts_is_a_note(text: str, what: str) -> None:
    faults = lint(text)
    assert [each for each in faults if what in each.what]
    assert "note" in {each.severity for each in faults}
    assert "error" not in {each.severity for each in faults}
    assert FILE.read(text, CATALOGUES[SIX])
