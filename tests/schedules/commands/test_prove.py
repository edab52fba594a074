"""`timpani prove` as a user runs it, on recorded messages."""

import json
from pathlib import Path

import pytest

from tests.campaign_files import write_header, write_lines
from tests.cli.typed import typed
from tests.installed import needs_mpi

DATA = Path(__file__).parents[2] / "data/proofs/openmpi-5.0.11-8-ranks.jsonl"

pytestmark = needs_mpi


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return write_header(tmp_path, study={"datatype": "uint8"})


def test_every_counted_algorithm_has_a_line(campaign: Path) -> None:
    write_lines(campaign / "proofs.jsonl", map(json.loads, DATA.read_text().splitlines()))
    table = typed("prove", str(campaign)).stdout
    assert "as timpani/recursive_doubling or timpani/recursive_multiplying:radix=2" in table
    rows = json.loads(typed("prove", str(campaign), "--format", "json").stdout)
    assert len(rows) == len(DATA.read_text().splitlines())
    (default,) = [row for row in rows if (row["collective"], row["algorithm"]) == ("bcast", "default")]
    assert (default["match"], default["named"]) == ("messages", ["timpani/knomial:radix=4"])
    (unlike,) = [row for row in rows if row["algorithm"] == "double_ring"]
    assert (unlike["match"], unlike["named"]) == (None, [])


def test_a_campaign_without_counts_is_one_line(campaign: Path) -> None:
    answer = typed("prove", str(campaign))
    assert answer.returncode == 2
    assert answer.stderr == (
        f"timpani: {campaign} holds no counted messages; count them: the same `timpani run` with --prove\n"
    )
