"""A study's conclusions compared with a campaign: a verdict only of what was measured under its conditions."""

from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import load
from timpani.campaign.read.message_locality import without_pairs
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.studies.agreement import agreement, pair_times, unpaired
from timpani.studies.claims_text import check_claims, claims_object, claims_text
from timpani.studies.tables import COMPARISON, import_published, published_times, read_published
from timpani.study.cell import Algorithm, Cell

BEHROOZ = read_published("behrooz", COMPARISON)


def lines(folder: Path, ranks: tuple[int, ...], hosts: tuple[str, ...], kind: str = "openmpi") -> list[str]:
    """What is said here of Behrooz' first conclusion: the default's broadcast rises sharply after 8 KiB."""
    results = [
        LaunchResult(Cell("bcast", Algorithm(kind, "default"), count, "core", size, "warm"), 1, "desk", median_us=time)
        for count in ranks
        for size, time in TIMES.items()
    ]
    seats = [{"rank": rank, "host": host, "cores": [rank]} for rank, host in enumerate(hosts)]
    launches: list[dict[str, Any]] = (
        [{"launch": 1, "part": "0001-1", "placement": "core", "ranks": seats}] if hosts else []
    )
    header = synthetic_header() | {"mpi": {"kind": kind, "version": "1"}}
    campaign = load(write_campaign(folder, header, results, launches))
    text = claims_text(BEHROOZ, check_claims(BEHROOZ, campaign), simulated=False, statistic="completion")
    return [line.strip() for line in text.splitlines() if line.strip().startswith("here")]


TIMES = {2**power: 1.0 if power <= 13 else 9.0 for power in range(21)}
ALL = (2, 4, 8, 16, 32, 64, 128, 256)


def test_under_the_studys_conditions_it_is_confirmed(tmp_path: Path) -> None:
    assert lines(tmp_path / "c", ALL, ("a", "b"))[0].startswith("here: holds; in 8 of 8 cases")


@pytest.mark.parametrize(
    ("ranks", "hosts", "kind", "said"),
    [
        (
            (2,),
            ("a", "b"),
            "openmpi",
            "here, at 21 of the study's 168 points (not measured: 4, 8, 16, 32 and 3 more ranks): nothing against it",
        ),
        (ALL, ("a", "a"), "openmpi", "here, on 1 node where it had 2: nothing against it; in 8 of 8 cases"),
        (ALL, (), "openmpi", "here, on an unknown number of nodes where it had 2: nothing against it"),
        (ALL, ("a", "b"), "mpich", "here, with MPICH's default for Open MPI's: nothing against it"),
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
        LaunchResult(Cell("bcast", algorithm, 256, "core", size, "warm"), 1, "desk", median_us=time)
        for size in (8, 16)
        for algorithm, time in (
            (Algorithm("simgrid", "default"), 1.0),
            (Algorithm("timpani", "knomial"), 1.1),
            (Algorithm("simgrid", "linear"), 2.0),
        )
    ]
    header = synthetic_header() | {"mpi": {"kind": "simgrid", "version": "4"}}
    campaign = load(write_campaign(tmp_path / "c", header, results, []))
    text = claims_text(BEHROOZ, check_claims(BEHROOZ, campaign), simulated=True, statistic="completion")
    assert "with timpani/knomial for openmpi/knomial and SimGrid's default for Open MPI's: nothing against it" in text


def test_ties_alone_are_no_difference(tmp_path: Path) -> None:
    """Type II takes as long as the default: that is nothing for its gain, and nothing against it."""
    results = [
        LaunchResult(Cell("bcast", algorithm, 8, "category:2:1", 2 << 20, "warm"), 1, "desk", median_us=1.0)
        for algorithm in (
            Algorithm("openmpi", "default"),
            Algorithm("composed", "two_level", (("setup_each_call", 1),)),
        )
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    table = read_published("assignment2", COMPARISON)
    text = claims_text(table, check_claims(table, campaign), simulated=False, statistic="completion")
    [said] = (each for each in text.split("\n- ") if "broadcasts of type II beat the default at 2048 KB" in each)
    assert ": no difference; 1 (" in said.splitlines()[-1]
    [found] = (
        each
        for each in claims_object(check_claims(table, campaign))
        if each["says"] == "broadcasts of type II beat the default at 2048 KB"
    )
    assert found["campaign"]["verdict"] == "no difference"


def test_a_line_names_what_was_not_measured(tmp_path: Path) -> None:
    """Of type II on its host files: 8 ranks of category 2, and 12 of category 3."""
    results = [
        LaunchResult(Cell("bcast", algorithm, ranks, placement, 2 << 20, "warm"), 1, "desk", median_us=time)
        for ranks, placement in ((8, "category:2:1"), (12, "category:3:1"), (8, "category:1:1"))
        for algorithm, time in (
            (Algorithm("openmpi", "default"), 1.0),
            (Algorithm("composed", "two_level", (("setup_each_call", 1),)), 0.5),
        )
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    table = read_published("assignment2", COMPARISON)
    found = {each.published.claim.says: each for each in check_claims(table, campaign)}
    here = found["broadcasts of type II beat the default at 2048 KB"].campaign
    assert here is not None
    assert len(here.finding.cases) == 2  # without category 1, which is of type I
    assert (here.conditions.points, here.conditions.of_points) == (2, 12)
    assert here.conditions.not_measured == ("16 ranks", "category:2:2, category:3:2")
    assert not here.conditions.met
    other = found["broadcasts of type I beat the default at 2048 KB"].campaign
    assert other is not None
    assert other.finding.verdict == "not testable here"
    assert "it takes times of bcast by composed/three_level" in other.finding.why


def test_holts_tables_are_compared_with_a_campaign_of_latencies(tmp_path: Path) -> None:
    """`timpani run latency` names the pair of ranks, which OSU's table doesn't."""
    pair = (("first", 0), ("second", 1))
    results = [
        LaunchResult(
            Cell(name, Algorithm("openmpi", "default", parameters), 2, "core", size, "warm"),
            1,
            "desk",
            median_us=1.0 + size / 1000,
            osu_avg_us=1.0 + size / 1000,
        )
        for name, parameters in (("latency", pair), ("bandwidth", (*pair, ("window", 64))))
        for size in (128, 256, 512, 1024)
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    table = read_published("holt", COMPARISON)
    cells = without_pairs(estimate_cells(raced_results(campaign)))
    times = published_times(table, "openmpi")
    assert pair_times(cells, times).height == 8
    assert unpaired(cells, times).campaign_only.is_empty()
    switches = check_claims(table, campaign)[0]
    assert switches.published.verdict == "holds"
    assert switches.campaign is not None
    assert switches.campaign.finding.verdict == "does not hold"


def test_several_pairs_of_a_campaign_are_kept_apart(tmp_path: Path) -> None:
    results = [
        LaunchResult(
            Cell("latency", Algorithm("openmpi", "default", (("first", 0), ("second", other))), 3, "core", 8, "warm"),
            1,
            "desk",
            median_us=1.0,
            osu_avg_us=1.0,
        )
        for other in (1, 2)
    ]
    campaign = load(write_campaign(tmp_path / "c", synthetic_header(), results, []))
    cells = without_pairs(estimate_cells(raced_results(campaign)))
    assert set(cells["label"]) == {"default"}
    assert set(cells["placement"]) == {"core, ranks 0 and 1", "core, ranks 0 and 2"}
    pairs = pair_times(cells, published_times(read_published("holt", COMPARISON), "openmpi"))
    assert agreement(pairs).best.is_empty()  # a pair is no algorithm to choose


def test_claims_are_not_checked_against_their_published_table(tmp_path: Path) -> None:
    import_published("malasi", tmp_path / "t", "timpani import")
    malasi = read_published("malasi", COMPARISON)
    checked = check_claims(malasi, load(tmp_path / "t"))
    text = claims_text(malasi, checked, simulated=False, statistic="completion")
    assert "published: holds;" in text
    assert "here" not in text
    assert {each["campaign"] for each in claims_object(checked)} == {None}
