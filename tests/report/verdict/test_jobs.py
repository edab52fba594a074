"""What a verdict holds for: one job, several, or the machine."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign_files import cells, made_up, results_of
from timpani.campaign.folder.load import Campaign
from timpani.judge.jobs import History
from timpani.report.document.blocks import Document
from timpani.report.verdict.verdict_text import verdict_document, verdict_object

SIZES = (8, 64, 512, 4096)
LAUNCHES = 6  # of each job


@pytest.fixture(autouse=True)
def _without_history(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def campaign(factors: Sequence[float], system: str = "Slurm") -> Campaign:
    """A job for each of `factors`, in which ring takes 5 µs times it; the default takes 10 µs in all."""
    random = np.random.default_rng(3)
    lines = []
    for number, factor in enumerate(factors):
        for launch in range(LAUNCHES):
            noise = [float(each) for each in np.exp(random.normal(0, 0.003, 2))]
            for name, time in (("default", 10.0), ("ring", 5.0 * factor)):
                times = cells({name: {size: [time * noise[name == "ring"]] for size in SIZES}})
                lines += [
                    replace(each, launch=1 + number * LAUNCHES + launch, job=str(number))
                    for each in results_of(times, interleaved=True)
                ]
    lines = [replace(each, interleaving=f"{each.launch:04d}-1/{each.cell.message_bytes}") for each in lines]
    return replace(made_up(lines), jobs=tuple(job(number, system) for number in range(len(factors))))


def job(number: int, system: str) -> Any:
    nodes = [f"n{2 * number + 1}", f"n{2 * number + 2}"]
    about = {"job": str(number), "machine": "here", "system": system, "name": "timpani", "switches": []}
    return {**about, "nodes": nodes, "started": f"2026-11-{20 + number}T12:00:00+00:00"}


def answer(found: Document) -> str:
    return str(found["answer"].text)


def test_one_job_says_where_it_was_and_that_another_may_differ() -> None:
    found = verdict_document(campaign([1.0]))
    assert answer(found).startswith("Verdict in this job (n[1-2], 20 November 2026): ")
    elsewhere = "On four supercomputers ratios changed by 1 to 9 % from job to job; here this is unknown."
    assert found["another_job"].text == elsewhere
    assert "in another job" not in found["gain"].text
    outside = verdict_document(campaign([1.0], system=""))
    assert answer(outside).startswith("Verdict in this run (n[1-2], ")


def test_the_history_of_a_machine_says_how_much_another_job_changes() -> None:
    History.of_campaigns([campaign([1.0, 1.1, 0.9, 1.2, 0.8])]).remember()
    text = verdict_document(campaign([1.0]))["another_job"].text
    assert "(5 jobs until 2026-11-24)" in text


@pytest.mark.parametrize(
    ("written", "instead"),
    [('"jobs": 5', '"jobs": "x"'), ('"job": ', '"job": "x", "y": '), ('"algorithm_in_job": ', '"algorithm_in_job": -')],
)
def test_a_file_that_is_no_history_is_not_believed(written: str, instead: str) -> None:
    file = History.of_campaigns([campaign([1.0, 1.1, 0.9, 1.2, 0.8])]).remember()
    file.write_text(file.read_text().replace(written, instead, 1))
    assert "here this is unknown" in verdict_document(campaign([1.0]))["another_job"].text


def test_several_jobs_decide_by_what_all_of_them_show() -> None:
    same = verdict_document(campaign([1.0, 1.01, 0.99]))
    assert answer(same).startswith("Verdict over 3 jobs (n[1-6], 20 November to 22 November 2026): ")
    assert "at 4 another algorithm is faster" in answer(same)
    assert "; in another job " in same["gain"].text
    differing = verdict_document(campaign([0.5, 3.0, 1.0]))
    assert "undecided at all 4 points" in answer(differing)
    assert "runs in total" not in differing["would_decide"].text
    assert "jobs in total" in differing["would_decide"].text


def test_from_six_jobs_on_a_verdict_is_of_the_machine() -> None:
    found = verdict_document(campaign([1.0, 1.02, 0.98, 1.01, 0.99, 1.0]))
    assert answer(found).startswith("Verdict on this machine (6 jobs, n[1-12], ")


def test_the_object_has_the_jobs_and_both_intervals() -> None:
    found = verdict_object(campaign([1.0, 1.01, 0.99]))
    assert (found["jobs"]["jobs"], [*found["jobs"]["nodes"]]) == (3, [f"n{number}" for number in range(1, 7)])
    point = found["points"][0]
    bounds = point["another_low"], point["ratio_low"], 2.0, point["ratio_high"], point["another_high"]
    assert list(bounds) == sorted(bounds)


def imported(*jobs: str) -> Campaign:
    """One launch in each job, measured elsewhere: ring takes half of the default's time."""
    lines = []
    for number, name in enumerate(jobs):
        times = cells({"default": {size: [10.0] for size in SIZES}, "ring": {size: [5.0] for size in SIZES}})
        lines += [replace(each, launch=number + 1, job=name) for each in results_of(times)]
    return replace(made_up(lines), jobs=tuple(job(int(name), "Slurm") for name in set(jobs)))


def test_one_imported_launch_is_described_without_a_test() -> None:
    found = verdict_document(imported("1"))
    assert "by value alone, without a test: the default takes at most 5 % longer than the fastest at 0 of 4 points" in (
        answer(found)
    )
    assert found["gain"].text.endswith("ring, 2.00 times as fast in one job, by value alone")
    assert not [each for each in found.with_name("warning") if "a comparison takes" in each.text]


def test_algorithms_that_no_job_measured_together_are_not_decided() -> None:
    lines = [
        replace(each, job="1" if each.cell.algorithm.is_default else "2")
        for each in results_of(cells({"default": {8: 10.0}, "ring": {8: 5.0}}))
    ]
    found = verdict_document(replace(made_up(lines), jobs=(job(1, "Slurm"), job(2, "Slurm"))))
    assert "undecided at the only point" in answer(found)
