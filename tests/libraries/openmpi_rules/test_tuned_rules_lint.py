"""Every known trap of a rules file for coll/tuned is found, with its line, what happens and what mends it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.libraries.openmpi_rules.tuned_tables import CATALOGUES, mpi
from timpani.errors import UserError
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.settings import read_settings
from timpani.libraries.openmpi.tuned_faults import faults_of_settings as faults
from timpani.libraries.tuning_file import Fault
from timpani.tune.foreign_file import read_file

FILE = TunedRules()
RULE = "1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  5 1  0 0 0 0\n"


def found(text: str, version: str = "5.0.11") -> list[Fault]:
    """What is wrong with the text itself, for one node."""
    faults = FILE.lint(text.replace("  ", "\n"), CATALOGUES[version], mpi(version))
    return [fault for fault in faults if "on several nodes" not in fault.what]


def test_a_right_file_has_no_fault() -> None:
    assert found(RULE) == []
    assert found(f"rule-file-version-2\n{RULE}") == []
    assert found("1 9 1  0 2  0 1 0 0  4096 1 0 0\n") == found("1 9 1  0 1  0 1 0 0\n")  # sizes, and one algorithm


@pytest.mark.parametrize(
    ("text", "severity", "line", "says"),
    [
        ("", "error", 1, "the file ends where the number of collectives should stand"),
        ("1 7 1  0 2  0 0 0 0  4096 1 0\n", "error", 5, "the file ends where a segment size should stand"),
        ("# mine\nrule-file-version-2\n" + RULE, "error", 2, "the header is not the file's first bytes"),
        ("rule-file-version-3\n" + RULE, "warning", 1, "no version 3"),
        ("1 7 1  0 1  4096 1 0 0\n", "error", 3, "the first message size is 4096 and not 0"),
        ("23" + RULE[1:], "error", 1, "23 collectives are more than there are"),
        ("1 22 0\n", "error", 1, "no collective 22"),
        ("1 7 1  0 1  0 -1 0 0\n", "error", 3, "an algorithm's id is negative"),
        ("1 7 1  0 1  0 4294967297 0 0\n", "error", 3, "larger than C's int"),
        (RULE.replace("4 1", "010 1"), "warning", 4, "010 is read as 8 (octal"),
        (RULE.replace("4 1", "010\x1b 1"), "warning", 4, "010\\x1b is read as 8 (octal"),
        (RULE.replace("0 1 0 0", "0 1 0 08"), "warning", 5, "08 is read as 0 (octal"),
        (RULE.replace("4 1", "4 ranks 1"), "warning", 4, "'ranks' stands outside of a comment"),
        (RULE + "7 1\n", "warning", 8, "more numbers than"),
        ("1 5 1  0 1  0 1 0 0\n", "warning", 1, "leaves collective 5 to others"),
        ("2 7 0  7 1  0 1  0 0 0 0\n", "warning", 2, "collective 7 has rules in line 1 already"),
        (RULE.replace("0 1 0 0", "0 10 0 0"), "error", 5, "has no bcast algorithm 10"),
        (RULE.replace("0 1 0 0", "0 2 0 0"), "warning", 5, "chain with fan-out 0"),
        ("1 7 2  4 1  0 1 0 0  5 1  0 0 0 0\n", "warning", 2, "no rule for fewer than 4 ranks"),
        ("1 7 2  0 1  0 0 0 0  2 1  0 1 0 0\n", "warning", 4, "nothing ends the rules for 2 ranks"),
        ("1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  4 1  0 0 0 0\n", "warning", 6, "rules for 4 ranks after 4"),
        ("1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  2 1  0 0 0 0\n", "warning", 6, "2 ranks after 4"),
        ("1 7 3  0 1  0 0 0 0  4 1  0 1 0 0  64 1  0 0 0 0\n", "warning", 4, "hold up to 63 ranks"),
        ("1 7 1  0 3  0 0 0 0  64 1 0 0  8 0 0 0\n1 0 0 0\n", "warning", 5, "size 8 after 64"),
        ("1 3 1  8 3  0 0 0 0  64 1 0 0  65536 2 0 0\n", "note", 5, "65536 B over 8 ranks are blocks of 8192 B"),
        ("1 7 1  0 3  0 0 0 0  64 1 0 0  64 2 4 0\n", "warning", 5, "size 64 after 64"),
        ("1 9 1  0 2  0 0 0 0  4096 1 0 0\n", "error", 4, "gather: coll/tuned compares arguments"),
        ("1 15 1  0 2  0 0 0 0  4096 1 0 0\n", "error", 4, "scatter: coll/tuned compares arguments"),
        ("1 4 1  0 2  0 0 0 0  4096 1 0 0\n", "warning", 4, "alltoallv: coll/tuned compares no size"),
        ("1 14 1  0 2  0 0 0 0  4096 1 0 0\n", "warning", 4, "scan: coll/tuned compares ranks"),
        ("1 7 1  0 2  0 0 0 0 0 1 0 0 0 0\n", "warning", 3, "more than the four numbers"),
    ],
)
def test_traps_are_found_with_their_line(text: str, severity: str, line: int, says: str) -> None:
    faults = [fault for fault in found(text) if says in fault.what]
    assert [(fault.severity, fault.line) for fault in faults] == [(severity, line)], found(text)


def test_a_wrong_count_is_reported_once_at_its_line() -> None:
    text = "1 7 2  0 3  0 0 0 0  64 1 0 0  8 2  0 2 4 0  9 1 0 0\n"  # three sizes announced, and two given
    faults = found(text)
    assert [fault.line for fault in faults if "begins in line 5 and ends in line 6" in fault.what] == [5]
    assert [fault.fix for fault in faults if fault.line == 5] == [
        "correct the count in line 2, which announces 3 rules where 2 stand, or one above"
    ]
    assert len(faults) == 2  # that the file ends too early is the other, and comes of it
    assert faults[0].line == 5


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE.name
    path.write_text("0 " * 2**21 + "0")
    with pytest.raises(UserError, match="is larger than 4 MiB"):
        read_file(path, None)


def test_many_faults_are_cut_short() -> None:
    faults = found("1 7 1  0 2000  " + "0 1 0 0\n" * 2000)
    assert len(faults) == 201
    assert "more than 200" in faults[-1].what
    assert found("1 7 99999999999999999999  " + "0 0 " * 2000)[0].what.startswith("the file ends where")


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
        ("1 0 2  0 1  0 0 0 0  2 1  0 6 0 0\n", True),
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


def test_a_library_is_asked_what_is_set(tmp_path: Path) -> None:
    asked = tmp_path / "ompi_info"
    asked.write_text(
        "#!/bin/sh\necho mca:coll:base:param:coll:value:^tuned\necho mca:coll:base:param:coll:source:environment\n"
    )
    asked.chmod(0o755)
    here = replace(mpi("5.0.11"), info=asked)
    errors = [fault for fault in FILE.lint(RULE, CATALOGUES["5.0.11"], here) if fault.severity == "error"]
    assert [fault.what for fault in errors] == ["coll is ^tuned (environment), without tuned"]


@pytest.mark.parametrize("zero", ["00", "+0", "-0", "0x0", "000"])
def test_a_zero_in_another_form_is_a_zero(zero: str) -> None:
    assert found(RULE.replace("0 1 0 0", f"{zero} 1 0 {zero}")) == []


def test_a_hexadecimal_number_is_what_it_shows() -> None:
    assert not [fault for fault in found(RULE.replace("4 1", "0x4 1")) if "is read as" in fault.what]
    [fault] = [fault for fault in found(RULE.replace("0 1 0 0", "0 1 0 0x")) if "is read as" in fault.what]
    assert fault.what == "0x is read as 0"
