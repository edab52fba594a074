"""Lint names what Open MPI 6 ignores, skips or understands in another way in rules in JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.libraries.openmpi_rules.tuned_tables import CATALOGUES, SIX, mpi
from timpani.libraries.openmpi.json_rules import SCHEMA_FILE, JsonRulesFile
from timpani.libraries.tuning_file import Fault

FILE = JsonRulesFile()
WHOLE = """{
 "rule_file_version": 3,
 "module": "tuned",
 "collectives": {
  "COLLECTIVE": [
   {"rules": [RULES]}
  ]
 }
}
"""
FOUR_RANKS = '{"comm_size_min": 4, "rules": [RULES]}'
ENTRY, RULE = '   {"rules": [RULES]}', '{"alg": "binomial"}'


def lint(text: str, **installed: object) -> list[Fault]:
    """Without the note on HAN, which is about all files with a collective of HAN's."""
    faults = FILE.lint(text, CATALOGUES[SIX], replace(mpi(SIX), **installed))  # type: ignore[arg-type]
    return [each for each in faults if "coll/han" not in each.what]


def file(rules: str = RULE, collective: str = "bcast", entry: str = ENTRY) -> str:
    return WHOLE.replace(ENTRY, entry).replace("RULES", rules).replace("COLLECTIVE", collective)


def test_a_correct_file_has_no_fault() -> None:
    assert lint(file()) == []


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (file("{"), 6, "no JSON: ] stands where a key"),
        (file("{'alg': 1}"), 6, "no JSON"),
        (file('{"alg": 01}'), 6, "no JSON"),
        (file() + "x", 10, "no JSON: x follows the end"),
        ('{"module": "tuned"}', 1, "no key collectives"),
        ('{"collectives": []}', 1, "collectives is no object"),
        ("[1]", 1, "the document is no object"),
        (file(collective="reducescatter"), 5, "unknown collective 'reducescatter'"),
        (file(entry='{"comm_size_min": 2}'), 6, "an entry has no rules"),
        (file(entry='{"comm_size_min": "2", "rules": []}'), 6, "comm_size_min is no whole number"),
        (file(entry='{"comm_size_min": 2.0, "rules": []}'), 6, "comm_size_min is no whole number"),
        (file(entry='{"comm_rank_distribution": 1, "rules": []}'), 6, "comm_rank_distribution is no text"),
        (file(entry='{"rules": 7}'), 6, "the rules of an entry are no list"),
        (file('{"alg": 1, "msg_size_max": 99999999999999999999}'), 6, "msg_size_max is no whole number of 64 bits"),
        (file().replace("[\n", "{\n").replace("\n  ]", "\n  }"), 6, "no JSON"),
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
        (file(collective="gatherv"), "no algorithms for gatherv", "every program ends in MPI_Init"),
        (file(entry='{"rules": {"a": 1}}'), "rules of an entry are an object", "segmentation fault"),
        (file('{"alg": "knomial"}', "reduce"), "knomial with faninout 0", "never ends"),
        (file('{"alg": "bruck-k-fanout", "faninout": 1}', "allgather"), "bruck-k-fanout with faninout 1", "never ends"),
        (file('{"alg": "two_proc"}', "allgather"), "two_proc runs on 2 ranks only", "the call fails"),
        (file('{"msg_size_max": 99, "alg": "binomial"}', "gather"), "", "different algorithms"),
    ],
)
def test_a_fault_that_ends_a_program_is_an_error(text: str, what: str, consequence: str) -> None:
    [fault] = [each for each in lint(text) if each.severity == "error"]
    assert what in fault.what
    assert consequence in fault.consequence


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (file('{"alg": "binomail"}'), "no bcast algorithm binomail"),
        (file('{"alg": 77}'), "no bcast algorithm 77"),
        (file('{"alg": "chain"}'), "chain with faninout 0"),
        (file('{"alg": "chain", "faninout": 33}'), "chain with faninout 33"),
        (file('{"alg": "chain", "faninout": 4, "seg_size": -1}'), "chain with seg_size -1"),
        (file('{"alg": "binomial", "faninout": 4}'), "binomial with faninout 4"),
        (file('{"alg": "binomial", "reqs": 4}'), "binomial with reqs 4"),
        (file('{"alg": "linear_sync", "reqs": -4}', "alltoall"), "linear_sync with reqs -4"),
        (file('{"msg_size_min": 9}'), "a rule has no alg"),
        (file('{"alg": 1.5}'), "alg is no name and no number"),
        (file("7"), "a rule is no object"),
        (file('{"alg": "binomial", "segsize": 4096}'), "unknown key 'segsize'"),
        (file('{"alg": "binomial", "alg": "chain"}'), "the key alg stands 2 times"),
        (file('{"alg": "binomial"}, {"msg_size_min": 9, "alg": "chain", "faninout": 4}'), "fits all sizes of this one"),
        (file('{"msg_size_min": 9, "msg_size_max": 8, "alg": "binomial"}'), "msg_size_min 9 exceeds msg_size_max 8"),
        (file('{"msg_size_min": -9, "msg_size_max": -8, "alg": "binomial"}'), "a negative size"),
        (file(entry='{"comm_size_max": "inf", "rules": []}'), "comm_size_max is inf"),
        (file(entry='{"comm_size_min": 9, "comm_size_max": 8, "rules": []}'), "comm_size_min 9 exceeds"),
        (file(entry=f'{{"rules": [{RULE}]}}, {{"comm_size_min": 4, "rules": []}}'), "fits all communicators"),
        (file(entry='{"comm_rank_distribution": "one-per-nod", "rules": []}'), "comm_rank_distribution 'one-per-nod'"),
        (file(entry='{"comm_rank_distribution": "one-per-node", "rules": []}'), "an entry for one rank on each node"),
        (file().replace('"tuned"', '"han"'), "module is han"),
        (file().replace("3", "4"), "rule_file_version is 4"),
        (file(collective='bcast": [], "bcast'), "has rules in line 5 already"),
        (
            file('{"msg_size_min": 3, "alg": "ring"}', "allgather", '{"comm_size_min": 4, "rules": [RULES]}'),
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
        (file('{"alg": "binomial",}'), "a comma before a closing bracket"),
        (file(r'{"alg": "bi\nomia\l"}'), "no bcast algorithm bi"),
        (file(r'{"alg": "binomia\l"}'), "a line end or an unknown escape"),
        (file('{"alg": "binomial", "\n": 1}'), "a line end or an unknown escape"),
        ("\ufeff" + file(), "a byte order mark"),
    ],
)
def test_json_that_only_the_library_accepts_is_a_note(text: str, what: str) -> None:
    faults = lint(text)
    assert [each for each in faults if what in each.what]
    assert "note" in {each.severity for each in faults}
    assert "error" not in {each.severity for each in faults}
    assert FILE.read(text, CATALOGUES[SIX])


def test_the_librarys_schema_is_used_where_it_is_installed(tmp_path: Path) -> None:
    folder = tmp_path / "share/openmpi"
    folder.mkdir(parents=True)
    mpirun = tmp_path / "bin/mpirun"
    schema = folder / SCHEMA_FILE
    schema.write_text(json.dumps({"properties": {"collectives": {"propertyNames": {"enum": ["barrier"]}}}}))
    [fault] = lint(file(), mpirun=mpirun)
    assert (fault.severity, fault.consequence) == ("note", "the library's reader does not use the schema")
    assert "objects at collectives: 'bcast' is not one of" in fault.what
    assert lint(file(collective="barrier").replace("binomial", "tree"), mpirun=mpirun) == []
    # The library's schema refers to a list of choices as if it were a schema.
    by_reference = {"anyOf": {"$ref": "#/$defs/words"}}
    schema.write_text(json.dumps({"properties": {"module": by_reference}, "$defs": {"words": [{"enum": ["han"]}]}}))
    assert "'tuned' is not" in lint(file(), mpirun=mpirun)[0].what
    schema.write_text('{"type": 7}')
    [unusable] = lint(file(), mpirun=mpirun)
    assert unusable.severity == "note"
    assert "can't be used" in unusable.what
