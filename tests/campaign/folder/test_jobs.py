"""Which job each result was measured in."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign.folder.test_store import RESULT, header
from timpani.campaign.folder.bundle import recorded_files
from timpani.campaign.folder.fields import JobFields
from timpani.campaign.folder.load import load
from timpani.campaign.folder.store import Store
from timpani.campaign.merge import MergeSource, merge
from timpani.campaign.read.held_names import held_names
from timpani.errors import UserError


def job(number: str) -> JobFields:
    """A job of a machine with two nodes."""
    return {
        "job": number,
        "machine": "here",
        "system": "Slurm",
        "name": "timpani",
        "nodes": ["n1", "n2"],
        "switches": [],
        "started": "2026-11-28T12:00:00+00:00",
    }


def measure_in_job(folder: Path, number: str, launch: int) -> None:
    """One launch of a campaign in a batch job."""
    with Store(folder, header()) as store:
        store.enter_job(job(number))
        part = store.start_folder(launch).name
        store.add_start({"launch": launch, "part": part})
        store.add_result(replace(RESULT, launch=launch, part=part))
        store.add_ending(part, {"ended": "finished"})


def test_a_result_is_of_the_job_that_its_start_ran_in(tmp_path: Path) -> None:
    for launch, number in enumerate("778", start=1):
        measure_in_job(tmp_path, number, launch)
    found = load(tmp_path)
    assert found.results["job"].to_list() == [each["job"] for each in found.launches] == ["7", "7", "8"]
    assert found.jobs == (job("7"), job("8")), "a job that measures twice is recorded once"


def test_the_next_run_takes_results_of_a_killed_one_into_the_job_of_the_killed_one(tmp_path: Path) -> None:
    with Store(tmp_path, header()) as store:
        store.enter_job(job("7"))
        part = store.start_folder(1).name
        store.add_start({"launch": 1, "part": part})
    with Store(tmp_path, header()) as store:
        store.enter_job(job("8"))
        store.add_result(replace(RESULT, part=part))
        store.add_result(replace(RESULT, launch=2, median_us=None, error="abandoned"))
    assert load(tmp_path).results["job"].to_list() == ["7", "8"]


def test_a_lost_job_is_named_and_the_next_run_continues(tmp_path: Path) -> None:
    measure_in_job(tmp_path, "7", 1)
    (tmp_path / "jobs.jsonl").write_bytes(b"")
    with pytest.raises(UserError, match=r"jobs\.jsonl lacks the job 7, which results name"):
        load(tmp_path)
    with Store(tmp_path, header()) as store:
        assert store.repaired == [f"{tmp_path / 'jobs.jsonl'} lacked 1 job: nodes and times are unknown"]
    assert [each["job"] for each in load(tmp_path).jobs] == ["7"]


def test_a_bundle_holds_the_jobs_and_names_their_nodes(tmp_path: Path) -> None:
    measure_in_job(tmp_path / "c", "7", 1)
    assert "jobs.jsonl" in recorded_files(tmp_path / "c")
    assert set(job("7")["nodes"]) <= set(held_names(load(tmp_path / "c")).hosts)


def test_two_campaigns_of_one_job_share_it_when_merged(tmp_path: Path) -> None:
    for name in "ab":
        measure_in_job(tmp_path / name, "7", 1)
    merge([MergeSource.parse(str(tmp_path / name)) for name in "ab"], tmp_path / "both", "timpani merge a b")
    assert load(tmp_path / "both").jobs == (job("7"),)
    assert load(tmp_path / "both").results["job"].to_list() == ["7", "7"]
