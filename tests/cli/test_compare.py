"""`timpani compare` as it is typed: what is doubtful in a published table, and what its study concluded."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import typed


def imported(table: str, folder: Path) -> Path:
    assert typed("import", "--published", table, "-o", str(folder / "c")).returncode == 0
    return folder / "c"


@pytest.mark.parametrize(
    ("table", "verdicts"),
    [
        (
            "behrooz_bcast_scatter",
            {"rises-after": "confirmed", "nearly-constant-to": "refuted", "nearest-to-default": "confirmed"},
        ),
        (
            "malasi_bcast_scatter",
            {"faster-than-default-from": "confirmed", "comparable-to-default-up-to": "refuted"},
        ),
        ("holt_osu_latency", {"jumps-at": "confirmed"}),
    ],
)
def test_the_published_tables_are_held_against_their_own_conclusions(
    table: str, verdicts: dict[str, str], tmp_path: Path
) -> None:
    told = typed("compare", str(imported(table, tmp_path)), "--published", table, "--format", "json")
    claims: list[dict[str, Any]] = json.loads(told.stdout)["claims"]
    found = {claim["check"]: claim for claim in claims}
    assert {check: found[check]["published"]["verdict"] for check in verdicts} == verdicts
    assert {check: found[check]["campaign"]["verdict"] for check in verdicts} == verdicts  # the same times


def test_the_numbers_that_decide_are_told(tmp_path: Path) -> None:
    text = typed("compare", str(imported("behrooz_bcast_scatter", tmp_path)), "--published", "behrooz").stdout
    assert "published: confirmed; holds in 8 of 8 cases: 1.71 to 8.52; single run, no interval" in text
    assert "published: refuted; holds in 0 of 8 cases: 2.47 to 8.53" in text
    assert "Doubts about the published table:\n- scatter default takes what bcast default does" in text


def test_a_chain_is_slower_by_what_it_is(tmp_path: Path) -> None:
    text = typed("compare", str(imported("malasi_bcast_scatter", tmp_path)), "--published", "malasi").stdout
    assert "refuted; holds in 0 of 13 cases: 1.23 to 1.44" in text
    assert "Doubts" not in text


def test_conclusions_without_a_table_are_checked_against_the_campaign(tmp_path: Path) -> None:
    told = typed("compare", str(imported("malasi_bcast_scatter", tmp_path)), "--published", "della_siega")
    assert told.returncode == 0
    assert "linear is the best for very small reductions" in told.stdout
    assert "published: not testable here: there are no times" in told.stdout


def test_an_unknown_table_is_one_line_with_those_that_exist(tmp_path: Path) -> None:
    told = typed("compare", str(imported("holt_osu_latency", tmp_path)), "--published", "nobody")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "choose among behrooz_bcast_scatter" in told.stderr
