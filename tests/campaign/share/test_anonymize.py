"""A bundle with pseudonyms holds no name of a host or user, and is otherwise the same campaign."""

import gzip
import hashlib
import json
import os
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import timpani
from tests.campaign.folder.test_store import CELL
from tests.cli.typed import typed
from timpani.campaign.folder.bundle import SUFFIX
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.machine.here.describe import MachineDescription
from timpani.study.cell import Algorithm
from timpani.study.study import Study

NODES = ("wolf01.zoo.example.org", "wolf02.zoo.example.org")
USER = "mallory"
HOME = f"/home/{USER}"
LEAKS = ("wolf", "zoo.example", "mallory", "menagerie", "rack9")


def header(title: str) -> Header:
    study = {"collectives": {"bcast": "all"}, "ranks": [2], "sizes": [8], "title": title}
    machine = {
        "name": "menagerie",
        "launcher": "openmpi",
        "groups": [{"name": "rack9", "nodes": list(NODES), "cores": 4}],
        "hosts": [{"name": node} for node in NODES],
    }
    return Header.new(
        study=Study.check(study, "test").model_dump(mode="json"),
        machine=MachineDescription.model_validate(machine),
        mpi=RecordedMpi(kind="openmpi", version="4.1.4", mpirun=f"{HOME}/openmpi/bin/mpirun"),
        command=f"timpani run bcast --on {HOME}/menagerie.toml -o /scratch/{USER}_bcast",
        left_out=["wolf02 has no second socket"],
    )


def raw_line(values: dict[str, Any]) -> bytes:
    before = json.dumps(values, separators=(",", ":")).encode().removesuffix(b"}")
    return before + b',"crc32":"%08x"}' % zlib.crc32(before)


def raw_lines() -> list[bytes]:
    ranks = [{"rank": rank, "host": node, "cores": [0]} for rank, node in enumerate(NODES)]
    ended = {"stopped_by": "slot", "converged": False, "effective_size": 1.0, "median_interval_ns": [1500.0, 1500.0]}
    measured = {**ended, "rank_mean_ns": [1.0], "completion_ns": [1500.0], "average_ns": [1500.0]}
    return [
        raw_line({"world": 2, "library": "Open MPI", "ranks": ranks}),
        raw_line({"cell": 0, "measured": {**measured, "skew_ns": [1.0]}}),
        raw_line({"cell": 1, "mistake": f"rank 1 on wolf02: {HOME}/data is wrong"}),
        raw_line({"end": True}),
    ]


def write(folder: Path, title: str = "Broadcast on menagerie", algorithm: str = "chain") -> Path:
    """A campaign in which names are in every kind of file."""
    lines = raw_lines()
    sample = {number: hashlib.sha256(line).hexdigest() for number, line in enumerate(lines)}
    cell = replace(CELL, algorithm=Algorithm("openmpi", algorithm))
    error = f"rank 1 on wolf02: {HOME}/data is wrong"
    with Store(folder, header(title)) as store:
        place = store.start_folder(1)
        store.add_start(
            {
                "launch": 1,
                "part": place.name,
                "command": ["mpirun", "--host", "wolf[01-02].zoo.example.org", f"{HOME}/measure", "wolf01:2"],
                "environment": {"TMPDIR": f"/tmp/{USER}.1"},
                "asked": [{"host": node, "socket": 0, "core": 0} for node in NODES],
            }
        )
        measured = LaunchResult(cell, 1, "menagerie", median_us=1.5, part=place.name, samples=sample[1])
        store.add_result(measured)
        failed = replace(measured, cell=replace(cell, message_bytes=16), median_us=None, error=error, samples=sample[2])
        store.add_result(failed)
        ranks = [{"rank": rank, "host": node, "cores": [0]} for rank, node in enumerate(NODES)]
        mistake = "rank 1 should be on wolf02"
        store.add_ending(place.name, {"ended": "finished", "exit": 0, "ranks": ranks, "binding_mistake": mistake})
    (place / "hosts.txt").write_text("wolf01.zoo.example.org slots=1\nwolf02.zoo.example.org slots=1\n")
    (place / "output.txt").write_text(f"wolf01: {USER} is here\n")
    (place / "launcher.txt").write_text("1;tcp://192.0.2.2:44087\n")
    (place / "samples.jsonl.gz").write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))
    return folder


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    write(tmp_path / "mallory-bcast")
    done = typed("bundle", tmp_path / "mallory-bcast", "--anonymize", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 machine" in done.stderr
    return tmp_path / f"user1-bcast{SUFFIX}"


def members(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    return {name: gzip.decompress(content) if name.endswith(".gz") else content for name, content in found.items()}


def test_no_name_of_a_host_or_user_remains(packed: Path) -> None:
    found = members(packed)
    assert not {name: leak for name, text in found.items() for leak in LEAKS if leak.encode() in text.lower()}
    assert "launches/0001-1/launcher.txt" not in found


@pytest.mark.parametrize("name", ["h1", "td", "x1", "href"])
def test_a_user_may_be_called_as_an_element_of_the_report(name: str, tmp_path: Path) -> None:
    write(tmp_path / "c")
    done = typed("bundle", tmp_path / "c", "--anonymize", cwd=tmp_path, env={**os.environ, "HOME": f"/nowhere/{name}"})
    assert done.returncode == 0, done.stderr


def test_one_name_has_one_pseudonym_in_all_files(packed: Path) -> None:
    found = members(packed)
    start, ending = json.loads(found["launches.jsonl"]), json.loads(found["endings.jsonl"])
    assert start["command"][2:] == ["host[1-2]", "/home/user1/measure", "host1:2"]
    assert start["environment"] == {"TMPDIR": "/tmp/user1.1"}
    assert [each["host"] for each in start["asked"]] == [each["host"] for each in ending["ranks"]] == ["host1", "host2"]
    assert ending["binding_mistake"] == "rank 1 should be on host2"
    assert found["launches/0001-1/hosts.txt"] == b"host1 slots=1\nhost2 slots=1\n"
    assert found["launches/0001-1/output.txt"] == b"host1: user1 is here\n"
    machine = json.loads(found["campaign.json"])["machine"]
    assert (machine["name"], machine["groups"][0]["nodes"]) == ("machine1", ["host1", "host2"])


def test_only_raw_lines_with_names_change_and_results_name_them(packed: Path, tmp_path: Path) -> None:
    before, after = raw_lines(), members(packed)["launches/0001-1/samples.jsonl.gz"].splitlines()
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, False, True]
    checked = typed("check", packed)
    assert (checked.returncode, checked.stdout) == (0, "as written: 4 lines, and the raw samples of 2 results\n")
    original, anonymous = timpani.open(tmp_path / "mallory-bcast"), timpani.open(packed)
    assert_frame_equal(anonymous.cells.drop("machine", "error"), original.cells.drop("machine", "error"))
    assert set(anonymous.cells["machine"]) == {"machine1"}


def test_a_name_that_cannot_be_replaced_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "c", algorithm="mallory_chain")
    refused = typed("bundle", tmp_path / "c", "--anonymize", "-o", tmp_path / "c.zip")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "results.jsonl line 1 would still hold the name 'mallory'" in refused.stderr
    assert not list(tmp_path.glob("*.zip*"))


def test_without_anonymize_names_stay(tmp_path: Path) -> None:
    write(tmp_path / "c")
    assert typed("bundle", tmp_path / "c", "-o", tmp_path / "c.zip").returncode == 0
    assert b"wolf01" in members(tmp_path / "c.zip")["launches.jsonl"]


def test_damaged_samples_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "c")
    (folder / "launches/0001-1/samples.jsonl.gz").write_bytes(b"\x1f\x8b" + bytes(20))
    refused = typed("bundle", folder, "--anonymize", "-o", tmp_path / "c.zip")
    assert (refused.returncode, refused.stderr.count("is damaged")) == (2, 1), refused.stderr
