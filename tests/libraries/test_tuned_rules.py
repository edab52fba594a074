"""Rules files for coll/tuned: written, read back, what they can't say, and every known trap with its line."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from tests.libraries.tuned_tables import CATALOGUES, VERSIONS, check_mangled, check_read_back, mpi
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.settings import read_settings
from timpani.libraries.openmpi.tuned import faults_of_settings as faults
from timpani.libraries.tuning_file import MAX_RANK_COUNTS, Fault, Written
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
@drawn(max_examples=40)
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


RULE = "1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  5 1  0 0 0 0\n"


def found(text: str, version: str = "5.0.11") -> list[Fault]:
    """What is wrong with the text itself, for one node."""
    faults = FILE.lint(text.replace("  ", "\n"), CATALOGUES[version], mpi(version))
    return [fault for fault in faults if "on several nodes" not in fault.what]


@pytest.mark.parametrize(
    ("text", "severity", "line", "says"),
    [
        ("", "error", 1, "the file ends where the number of collectives should stand"),
        ("1 7 1  0 2  0 0 0 0  4096 1 0\n", "error", 5, "the file ends where a segment size should stand"),
        ("# mine\nrule-file-version-2\n" + RULE, "error", 2, "the header is not the file's first bytes"),
        ("rule-file-version-3\n" + RULE, "warning", 1, "no version 3"),
        ("1 7 1  0 1  4096 1 0 0\n", "error", 3, "the first message size is 4096 and not 0"),
        ("23" + RULE[1:], "error", 1, "23 collectives are more than there are"),
        ("1 7 1  0 1  0 -1 0 0\n", "error", 3, "an algorithm's id is negative"),
        (RULE.replace("4 1", "010 1"), "warning", 4, "010 is read as 8 (octal"),
        (RULE.replace("0 1 0 0", "0 1 0 0x"), "warning", 5, "0x is read as 0"),
        (RULE.replace("4 1", "4 ranks 1"), "warning", 4, "'ranks' stands outside of a comment"),
        (RULE + "7 1\n", "warning", 8, "more numbers than"),
        ("1 5 1  0 1  0 1 0 0\n", "warning", 1, "leaves collective 5 to others"),
        ("2 7 0  7 1  0 1  0 0 0 0\n", "warning", 2, "collective 7 has rules in line 1 already"),
        (RULE.replace("0 1 0 0", "0 10 0 0"), "error", 5, "has no bcast algorithm 10"),
        (RULE.replace("0 1 0 0", "0 2 0 0"), "warning", 5, "chain with fan-out 0"),
        ("1 7 2  4 1  0 1 0 0  5 1  0 0 0 0\n", "warning", 2, "no rule for fewer than 4 ranks"),
        ("1 7 2  0 1  0 0 0 0  2 1  0 1 0 0\n", "warning", 4, "nothing ends the rules for 2 ranks"),
        ("1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  4 1  0 0 0 0\n", "warning", 6, "rules for 4 ranks after 4"),
        ("1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  64 1  0 0 0 0\n", "warning", 4, "hold up to 63 ranks"),
        ("1 7 1  0 3  0 0 0 0  64 1 0 0  8 0 0 0\n1 0 0 0\n", "warning", 5, "size 8 after 64"),
        ("1 3 1  8 3  0 0 0 0  64 1 0 0  65536 2 0 0\n", "note", 5, "65536 B over 8 ranks are blocks of 8192 B"),
        ("1 9 1  0 2  0 0 0 0  4096 1 0 0\n", "error", 4, "gather: coll/tuned compares arguments"),
        ("1 4 1  0 2  0 0 0 0  4096 1 0 0\n", "warning", 4, "alltoallv: coll/tuned compares no size"),
        ("1 7 1  0 2  0 0 0 0 0 1 0 0 0 0\n", "warning", 3, "more than the four numbers"),
    ],
)
def test_traps_are_found_with_their_line(text: str, severity: str, line: int, says: str) -> None:
    faults = [fault for fault in found(text) if says in fault.what]
    assert [(fault.severity, fault.line) for fault in faults] == [(severity, line)], found(text)


@pytest.mark.parametrize("header", ["rule-file-version-1\n", "rule-file-version-2\n"])
def test_a_header_makes_an_older_version_ignore_the_file(header: str) -> None:
    [fault] = [fault for fault in found(header + RULE, "4.1.4") if fault.severity == "error"]
    assert fault.line == 1
    assert fault.what.startswith("Open MPI 4.1.4 knows no header")
    assert fault.consequence.startswith("Open MPI silently ignores the whole file")


def test_ids_are_those_of_the_version() -> None:
    sparbit = RULE.replace("7 3", "0 3").replace("0 1 0 0", "0 7 0 0")
    assert found(sparbit) == []
    [fault] = found(sparbit, "4.1.4")
    assert (fault.severity, fault.what) == ("error", "Open MPI 4.1.4 has no allgather algorithm 7")


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("1 0 3  0 1  0 0 0 0  2 1  0 6 0 0  3 1  0 0 0 0\n", False),
        ("1 0 3  0 1  0 0 0 0  2 1  0 6 0 0  4 1  0 0 0 0\n", True),
        ("1 0 3  0 1  0 0 0 0  3 1  0 6 0 0  4 1  0 0 0 0\n", True),
    ],
)
def test_an_algorithm_for_two_ranks_fails_on_more(text: str, fails: bool) -> None:
    errors = [fault for fault in found(text) if fault.severity == "error"]
    assert [(fault.line, "two_proc runs on 2 ranks only" in fault.what) for fault in errors] == [(5, True)] * fails


@pytest.mark.parametrize(
    "sizes",
    [
        "1 3 3  0 1  0 0 0 0  8 3  0 0 0 0  4 1 0 0  1024 2 0 0  9 1  0 0 0 0\n",  # half a byte for each
        "1 0 3  0 1  0 0 0 0  6 3  0 0 0 0  64 1 0 0  1024 2 0 0  7 1  0 0 0 0\n",  # no multiples of 6
        "1 0 3  0 1  0 0 0 0  4 3  0 0 0 0  64 1 0 0  1024 2 0 0  8 3  0 0 0 0  64 1 0 0  1024 2 0 0\n",  # the same
    ],
)
def test_sizes_that_look_like_those_of_a_block_are_found(sizes: str) -> None:
    faults = [fault for fault in found(sizes) if "look like those of one block" in fault.what]
    assert [(fault.severity, fault.fix) for fault in faults] == [("warning", "multiply each size with its ranks")]
    vector = sizes.replace("1 3 3", "1 7 3").replace("1 0 3", "1 7 3")
    assert not [fault for fault in found(vector) if "block" in fault.what]


def settings(values: Mapping[str, str], version: str = "5.0.11") -> list[tuple[str, str]]:
    lines = []
    for name, value in values.items():
        component = "han" if name.startswith("coll_han") else "tuned" if "_" in name else "base"
        lines += [f"mca:coll:{component}:param:{name}:value:{value}"]
        lines += [f"mca:coll:{component}:param:{name}:source:file (/etc/openmpi-mca-params.conf:3)"]
    found = faults(["bcast"], read_settings("\n".join(lines)), mpi(version))
    return [(fault.severity, f"{fault.what}: {fault.consequence}") for fault in found]


def test_settings_outside_the_file_are_found(tmp_path: Path) -> None:
    without_han = {"coll": "^han"}
    assert settings(without_han) == []
    [(severity, han)] = settings({})
    assert (severity, "coll/han does bcast" in han) == ("note", True)
    assert settings({}, "4.1.4") == []
    assert settings({"coll_han_use_dynamic_file_rules": "true"}) == []
    [(severity, forced)] = settings({**without_han, "coll_tuned_bcast_algorithm": "chain"})
    assert severity == "warning"
    assert forced == (
        "coll_tuned_bcast_algorithm is chain (file (/etc/openmpi-mca-params.conf:3)): it goes before the file"
    )
    [(_, forced)] = settings({"coll_tuned_bcast_algorithm": "chain"}, "4.1.4")
    assert forced.endswith("it decides wherever the file says 0")
    (tmp_path / "rules").touch()
    file = {**without_han, "coll_tuned_dynamic_rules_filename": str(tmp_path / "rules")}
    [(severity, unset)] = settings(file)
    assert (severity, "coll_tuned_use_dynamic_rules is not" in unset) == ("error", True)
    assert settings({**file, "coll_tuned_use_dynamic_rules": "true"}) == []
    gone = {"coll_tuned_dynamic_rules_filename": "/nowhere", "coll_tuned_use_dynamic_rules": "true", **without_han}
    [(severity, missing)] = settings(gone)
    assert (severity, "/nowhere, which is no file" in missing) == ("error", True)
    for coll in ("^tuned,han", "basic,self"):
        [(severity, left_out)] = settings({"coll": coll})
        assert (severity, "without tuned" in left_out) == ("error", True)
