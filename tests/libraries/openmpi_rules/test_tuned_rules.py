"""Rules files for coll/tuned: what is written is read back, and what can't be said is left out and named."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.libraries.openmpi_rules.tuned_tables import CATALOGUES, VERSIONS, check_mangled, check_read_back, mpi
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.tuning_file import MAX_RANK_COUNTS, Written
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

FILE = TunedRules()
LINEAR, BINOMIAL = Algorithm("openmpi", "linear"), Algorithm("openmpi", "binomial")


def written(*rules: Rule, version: str = "5.0.11", **fields: object) -> Written:
    table = SelectionTable("Open MPI", version, rules, **fields)  # type: ignore[arg-type]
    return FILE.write(table, CATALOGUES[version], mpi(version))


def numbers(text: str) -> list[str]:
    """Each line's, without comments."""
    return [line.split("#")[0].strip() for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_a_written_file_is_read_back(version: str, data: st.DataObject) -> None:
    check_read_back(FILE, version, data)


@pytest.mark.parametrize("version", VERSIONS)
def test_mangled_files_are_refused_in_one_line_or_read(version: str) -> None:
    table = SelectionTable(
        "Open MPI",
        version,
        (
            Rule("bcast", LINEAR, Span(4, 4), sizes=Span(4096, 65535)),
            Rule("allgather", Algorithm("openmpi", "ring"), Span(3, 5), sizes=Span(64, None)),
            Rule("alltoall", Algorithm("openmpi", "linear_sync", (("max_requests", 4),)), Span(2, 8)),
        ),
    )
    whole = FILE.write(table, CATALOGUES[version], mpi(version)).text
    pool = [*"0123456789-+# \n\t.xe\0é٣", "rule-file-version-2", "010", "0x", "9" * 50, "-1", "99999999999"]
    check_mangled(FILE, version, whole, pool, Call("bcast", 4, 1, 4, 5000))


def test_a_rule_has_a_guard_below_and_an_end_above() -> None:
    file = written(Rule("bcast", LINEAR, Span(4, 4), sizes=Span(4096, 65535)))
    assert not file.left_out
    rules = ("0 1", "0 0 0 0", "4 3", "0 0 0 0", "4096 1 0 0", "65536 0 0 0", "5 1", "0 0 0 0")
    assert numbers(file.text) == ["1", "7", "3", *rules]


def test_blocks_are_multiplied_by_ranks_and_each_rank_count_has_an_entry() -> None:
    file = written(Rule("allgather", Algorithm("openmpi", "ring"), Span(3, 5), sizes=Span(64, 127)))
    from_blocks = [line for line in numbers(file.text) if len(line.split()) == 4 and not line.startswith("0 ")]
    assert from_blocks == ["192 4 0 0", "384 0 0 0", "256 4 0 0", "512 0 0 0", "320 4 0 0", "640 0 0 0"]
    many = Rule("allgather", LINEAR, Span(2, 2 + MAX_RANK_COUNTS), sizes=Span(64, 127))
    [left_out] = written(many).left_out
    assert left_out.rule == many
    assert f"more than {MAX_RANK_COUNTS}" in left_out.why
    assert not written(replace(many, sizes=ALL)).left_out
    assert not written(replace(many, collective="bcast")).left_out


def test_max_requests_take_version_2_where_the_library_reads_it() -> None:
    rule = Rule("alltoall", Algorithm("openmpi", "linear_sync", (("max_requests", 4),)), Span(2, 8))
    file = written(rule)
    assert file.text.startswith("rule-file-version-2\n")
    assert "0 4 0 0 4" in numbers(file.text)
    old = written(rule, version="4.1.4")
    assert old.text.startswith("0  # collectives")
    assert "reads no max_requests" in old.left_out[0].why
    assert "rule-file-version" not in written(Rule("bcast", LINEAR)).text


def test_a_chain_has_its_fan_out_and_others_none() -> None:
    chain = Algorithm("openmpi", "chain", (("segment_bytes", 8192),))
    assert "0 2 4 8192" in numbers(written(Rule("bcast", chain)).text)  # 4: the library's
    file = written(Rule("bcast", Algorithm("openmpi", "binomial", (("chain_fanout", 8),))))
    assert file.said.rules == (Rule("bcast", BINOMIAL),)
    assert "binomial does not read it" in file.left_out[0].why


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule("bcast", Algorithm("openmpi", "knomial", (("radix", 8),))), "can't say radix"),
        (Rule("scatter", Algorithm("openmpi", "linear_nb", (("max_requests", 8),))), "can't say max_requests"),
        (Rule("allgather", Algorithm("openmpi", "two_proc"), Span(2, 4)), "fails on more than 2 ranks"),
        (Rule("gatherv", LINEAR), "no rules for gatherv"),
        (Rule("bcast", Algorithm("timpani", "binomial")), "not an algorithm of coll/tuned"),
        (Rule("bcast", Algorithm("openmpi", "sparbit")), "sparbit"),
        (Rule("gather", BINOMIAL, sizes=Span(64, 4096)), "only the root"),
        (Rule("alltoallv", LINEAR, sizes=Span(64, 4096)), "compares no size"),
        (Rule("scan", LINEAR, sizes=Span(64, 4096)), "whatever the count"),
    ],
)
def test_rules_that_a_file_cannot_express_are_left_out_and_named(rule: Rule, why: str) -> None:
    file = written(rule, Rule("allreduce", Algorithm("openmpi", "ring"), Span(4, 4)))
    assert [(each.rule, why in each.why) for each in file.left_out] == [(rule, True)]
    assert file.said.rules_for([rule.collective]) == ()
    assert file.said.rules_for(["allreduce"])


def test_rules_drop_the_node_count_and_report_it() -> None:
    on_one = Rule("bcast", LINEAR, Span(8, 8), nodes=Span(1, 1), per_node=Span(8, 8))
    on_four = Rule("bcast", BINOMIAL, Span(8, 8), nodes=Span(4, 4), per_node=Span(2, 2))
    [dropped] = written(on_one).left_out
    assert dropped.why == "measured on 1 node of 8 ranks, but the file applies it to any 8 ranks"
    both = written(on_one, on_four)
    assert both.said.rules == ()
    assert [each.rule for each in both.left_out] == [on_one, on_four]
    assert "can't distinguish 1 node of 8 ranks from 4 nodes of 2 ranks, where binomial" in both.left_out[0].why
    same = written(on_one, replace(on_four, algorithm=LINEAR))
    assert {rule.algorithm for rule in same.said.rules} == {LINEAR}


def test_a_gather_rule_is_written_if_one_algorithm_holds_at_all_measured_sizes() -> None:
    rules = (
        Rule("gather", BINOMIAL, Span(4, 4), sizes=Span(8, 511)),
        Rule("gather", BINOMIAL, Span(4, 4), sizes=Span(512, 4096)),
        Rule("gather", BINOMIAL, Span(8, 8), sizes=Span(8, 511)),
        Rule("gather", LINEAR, Span(8, 8), sizes=Span(512, 4096)),
    )
    file = written(*rules, measured={"gather": Span(8, 4096)})
    assert file.said.rules == (Rule("gather", BINOMIAL, Span(4, 4)),)
    assert [("not measured, too" in each.why) for each in file.left_out] == [True, True, False, False]
    more = written(replace(rules[0], nodes=Span(1, 1)), rules[1], measured={"gather": Span(8, 8192)})
    assert more.said.rules == ()
    assert len(more.left_out) == 2  # that the file would apply it to any nodes matters no more
