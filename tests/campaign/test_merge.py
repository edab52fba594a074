"""Merged campaigns: launches of one machine together, machines apart, and every launch with its provenance."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import timpani
from tests.campaign.folder.test_store import CELL, header
from tests.cli.typed import typed
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult, Proof
from timpani.campaign.folder.load import load
from timpani.campaign.folder.store import Store
from timpani.errors import UserError
from timpani.study.cell import Algorithm

DAYS = {"monday": (10.0, 10.1, 10.2), "tuesday": (11.0, 11.1)}


def changed(recorded: Header, **parts: Any) -> Header:
    return Header.check({**recorded.recorded, **parts}, "test")


def measured(folder: Path, times: tuple[float, ...], recorded: Header | None = None, machine: str = "here") -> Path:
    """A campaign of one cell with raw samples, one launch for each time."""
    with Store(folder, recorded or header(machine=machine, launches=len(times))) as store:
        for launch, time in enumerate(times, start=1):
            place = store.start_folder(launch)
            raw = b'{"cell":0,"time":%f,"of":"%s"}' % (time, folder.name.encode())
            store.add_start({"launch": launch, "part": place.name, "placement": "core", "command": ["mpirun"]})
            ranks = [{"rank": rank, "host": machine, "cores": [rank]} for rank in (0, 1)]
            result = LaunchResult(
                CELL,
                launch,
                machine,
                median_us=time,
                ci_low_us=time,
                ci_high_us=time,
                part=place.name,
                interleaving=f"{place.name}/17",
                samples=hashlib.sha256(raw).hexdigest(),
            )
            store.add_result(result)
            store.add_ending(place.name, {"ended": "finished", "exit": 0, "seconds": 1.0, "ranks": ranks})
            (place / "samples.jsonl.gz").write_bytes(gzip.compress(raw + b"\n"))
    return folder


@pytest.fixture
def days(tmp_path: Path) -> tuple[Path, Path]:
    """Two campaigns on one machine."""
    return measured(tmp_path / "monday", DAYS["monday"]), measured(tmp_path / "tuesday", DAYS["tuesday"])


def merged(into: Path, *sources: str | Path) -> str:
    """Merge; what is noted."""
    done = typed("merge", *sources, "-o", into)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refusal(into: Path, *sources: str | Path) -> str:
    """The one line of a refused merge, which leaves nothing behind."""
    done = typed("merge", *sources, "-o", into)
    assert (done.returncode, done.stderr.count("\n"), into.exists()) == (2, 1, False), done.stderr
    assert not [path for path in into.parent.iterdir() if path.name.startswith(f".{into.name}")]
    return done.stderr


def test_launches_on_one_machine_are_one_cell(days: tuple[Path, Path], tmp_path: Path) -> None:
    assert merged(tmp_path / "both", *days) == ""
    both = timpani.open(tmp_path / "both")
    assert both.cells.select("machine", "launches", "median_us").rows() == [("here", 5, 10.2)]
    assert both.launches["launch"].to_list() == [1, 2, 3, 4, 5]
    checked = typed("check", tmp_path / "both")
    # Launches that anybody killed on this machine leave folders, which the check removes and names.
    said = [line for line in checked.stdout.splitlines() if not line.startswith("removed ")]
    assert (checked.returncode, said) == (0, ["as written: 15 lines, and the raw samples of 5 results"])


def test_merged_campaigns_and_bundles_are_merged_again(days: tuple[Path, Path], tmp_path: Path) -> None:
    assert typed("bundle", days[1], "-o", tmp_path / "tuesday.timpani.zip").returncode == 0
    merged(tmp_path / "both", days[0], tmp_path / "tuesday.timpani.zip")
    third = measured(tmp_path / "wednesday", (12.0,), machine="there")
    merged(tmp_path / "all", tmp_path / "both", third)
    campaign = load(tmp_path / "all")
    assert [(each.machine, each.launches) for each in campaign.header.merged] == [
        ("here", (1, 3)),
        ("here", (4, 5)),
        ("there", (6, 6)),
    ]
    assert "holds launches of" in refusal(tmp_path / "more", tmp_path / "all", days[1])


def test_rules_of_several_machines_hold_on_each(tmp_path: Path) -> None:
    cells = {name: replace(CELL, algorithm=Algorithm.parse(name)) for name in ("openmpi/default", "timpani/binomial")}
    for machine, time in (("here", 50.0), ("there", 80.0)):
        with Store(tmp_path / machine, header(machine=machine, launches=8)) as store:
            for launch in range(1, 9):
                for cell, median in zip(cells.values(), (100.0, time), strict=True):
                    store.add_result(LaunchResult(cell, launch, machine, median_us=median + launch / 100))
    merged(tmp_path / "both", tmp_path / "here", tmp_path / "there")
    done = typed("rules", tmp_path / "both", "-o", tmp_path / "site.rules")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "site.rules").read_text().splitlines()
    assert [line.rpartition(" on ")[2] for line in lines if line.startswith("#")] == ["here", "there"]
    [rule] = (line for line in lines if line.startswith(CELL.collective))
    assert rule.endswith("binomial  # 1.25 × or more")


def test_a_merged_campaign_is_not_continued(days: tuple[Path, Path], tmp_path: Path) -> None:
    merged(tmp_path / "both", *days)
    with pytest.raises(UserError, match="holds merged campaigns"):
        Store(tmp_path / "both", header())


def test_other_conditions_on_one_machine_are_noted(tmp_path: Path) -> None:
    before = header(launches=1)
    updated = changed(header(launches=1), machine={**before.recorded["machine"], "kernel": "Linux 7"})
    before = changed(before, machine={**before.recorded["machine"], "kernel": "Linux 6"})
    first, second = measured(tmp_path / "a", (1.0,), before), measured(tmp_path / "b", (1.1,), updated)
    assert "kernel Linux 6 in the first, Linux 7 in the second" in merged(tmp_path / "c", first, second)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (header(mpi="5.0.11", launches=1), "with MPI library Open MPI 4.1.4 and Open MPI 5.0.11"),
        (header(datatype="double", launches=1), "datatype of the study differs"),
        (header(mode="flush", launches=1), "mode of the study differs"),
        (changed(header(), mpi={"kind": "mpich", "version": "4.1.4", "mpirun": ""}), "library differs: 'Open MPI' in"),
        (changed(header(), machine={"name": "here", "cpu": "other"}), "but its cpu differs"),
        (header(regret=0.02), "regret of the study differs"),
    ],
)
def test_incomparable_campaigns_are_not_merged(tmp_path: Path, other: Header, reason: str) -> None:
    first, second = measured(tmp_path / "a", (1.0,)), measured(tmp_path / "b", (1.1,), other)
    assert reason in refusal(tmp_path / "c", first, second)


def test_a_race_is_not_continued_by_another(tmp_path: Path) -> None:
    races = [measured(tmp_path / name, (1.0,), header(regret=0.02)) for name in ("a", "b")]
    assert "a race ends once" in refusal(tmp_path / "c", *races)


def test_a_campaign_is_not_merged_with_itself(days: tuple[Path, Path], tmp_path: Path) -> None:
    assert "name each once" in refusal(tmp_path / "c", days[0], days[0])
    assert "name two or more" in refusal(tmp_path / "c", days[0])


def test_damaged_campaigns_and_used_folders_are_refused(days: tuple[Path, Path], tmp_path: Path) -> None:
    assert "is not empty" in typed("merge", *days, "-o", tmp_path).stderr
    path = days[1] / "results.jsonl"
    path.write_bytes(path.read_bytes().replace(b"11.0", b"10.0", 1))
    assert "can't be trusted" in refusal(tmp_path / "c", *days)


def test_proofs_of_a_cell_are_kept_once(tmp_path: Path) -> None:
    folders = [measured(tmp_path / name, (1.0,)) for name in ("a", "b")]
    for number, folder in enumerate(folders):
        cell = replace(CELL, message_bytes=8 * (number + 1))
        with Store(folder, load(folder).header) as store:
            for each in (CELL, cell) if number else (CELL,):
                place = store.start_folder(None)
                store.add_start({"launch": None, "part": place.name})
                store.add_proof(Proof(each, ((0, 1), (0, 0)), ((0, 8), (0, 0)), place.name))
                store.add_ending(place.name, {"ended": "finished", "exit": 0})
    assert "1 proof of" in merged(tmp_path / "c", *folders)
    found = {proof["message_bytes"]: proof["part"] for proof in load(tmp_path / "c").proofs}
    assert found == {8: "proof-1", 16: "proof-3"}
