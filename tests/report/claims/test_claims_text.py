"""A study's conclusions beside a campaign: a verdict only where that was measured under the study's conditions."""

from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import load
from timpani.campaign.osu.published_tables import import_published, read_published
from timpani.report.claims.claims_text import check_claims, claims_object, claims_text
from timpani.study.cell import Algorithm, Cell

BEHROOZ = read_published("behrooz")


def lines(folder: Path, ranks: tuple[int, ...], hosts: tuple[str, ...], kind: str = "openmpi") -> list[str]:
    """What is said here of Behrooz' first conclusion: the default's broadcast rises sharply after 8 KiB."""
    results = [
        LaunchResult(Cell("bcast", Algorithm(kind, "default"), count, "core", size, "warm"), 1, "desk", median_us=time)
        for count in ranks
        for size, time in ((4096, 1.0), (8192, 1.1), (16384, 9.0))
    ]
    seats = [{"rank": rank, "host": host, "cores": [rank]} for rank, host in enumerate(hosts)]
    launches: list[dict[str, Any]] = [{"launch": 1, "placement": "core", "ranks": seats}] if hosts else []
    header = synthetic_header() | {"mpi": {"kind": kind, "version": "1"}}
    campaign = load(write_campaign(folder, header, results, launches))
    text = claims_text(BEHROOZ, check_claims(BEHROOZ, campaign), simulated=False)
    return [line.strip() for line in text.splitlines() if line.strip().startswith("here")]


ALL = (2, 4, 8, 16, 32, 64, 128, 256)


def test_under_the_studys_conditions_it_is_confirmed(tmp_path: Path) -> None:
    assert lines(tmp_path / "c", ALL, ("a", "b"))[0].startswith("here: confirmed; holds in 8 of 8 cases")


@pytest.mark.parametrize(
    ("ranks", "hosts", "kind", "said"),
    [
        ((2,), ("a", "b"), "openmpi", "here, at 1 of the study's 8 rank counts: nothing against it; 8.18 (2 ranks,"),
        (ALL, ("a", "a"), "openmpi", "here, on 1 node where it had 2: nothing against it; holds in 8 of 8 cases"),
        (ALL, (), "openmpi", "here, on an unknown number of nodes where it had 2: nothing against it"),
        (ALL, ("a", "b"), "mpich", "here, with mpich's default for openmpi's: nothing against it"),
    ],
)
def test_under_others_there_is_no_verdict_on_the_study(
    ranks: tuple[int, ...], hosts: tuple[str, ...], kind: str, said: str, tmp_path: Path
) -> None:
    first = lines(tmp_path / "c", ranks, hosts, kind)[0]
    assert first.startswith(said)
    assert first.endswith("single values, no interval")


def test_a_simulated_stand_in_is_named(tmp_path: Path) -> None:
    results = [
        LaunchResult(Cell("bcast", algorithm, 2, "core", size, "warm"), 1, "desk", median_us=time)
        for size in (8, 16)
        for algorithm, time in (
            (Algorithm("simgrid", "default"), 1.0),
            (Algorithm("timpani", "knomial"), 1.1),
            (Algorithm("simgrid", "linear"), 2.0),
        )
    ]
    header = synthetic_header() | {"mpi": {"kind": "simgrid", "version": "4"}}
    campaign = load(write_campaign(tmp_path / "c", header, results, []))
    text = claims_text(BEHROOZ, check_claims(BEHROOZ, campaign), simulated=True)
    assert "with timpani/knomial for openmpi/knomial: nothing against it; 0.0953 (timpani/knomial over 2 points" in text


def test_a_table_is_not_held_against_itself(tmp_path: Path) -> None:
    import_published("malasi", tmp_path / "t", "timpani import")
    malasi = read_published("malasi")
    checked = check_claims(malasi, load(tmp_path / "t"))
    text = claims_text(malasi, checked, simulated=False)
    assert "published: confirmed" in text
    assert "here" not in text
    assert {each["campaign"] for each in claims_object(checked)} == {None}
