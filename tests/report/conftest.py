"""A campaign folder whose times come from formulas: every report of it is the same."""

import fcntl
import os
import random
from dataclasses import replace
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest

from tests import campaign_files
from tests.report.message_campaign import message_header, message_launches, message_results, timed
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.report.page.page import render
from timpani.study.cell import Algorithm, Cell

RANKS = (2, 4, 8)
SIZES = tuple(4**power for power in range(12))
LAUNCHES = 6
HOSTILE_TITLE = "</script><script>window.harmed = true</script> & <b>bold</b>"

# µs of a message of no bytes and µs per KiB, each by the number of rounds
ALGORITHMS = {
    "bcast": {
        "default": (0.50, 0.12),
        "binomial": (0.50, 0.1201),
        "chain:fanout=4": (0.70, 0.09),
        "knomial:radix=4": (0.40, 0.13),
        "linear": (0.95, 0.22),
        "scatter_allgather": (1.60, 0.06),
    },
    "scatter": {
        "default": (0.45, 0.20),
        "basic_linear": (0.60, 0.15),
        "binomial": (0.45, 0.2002),
        "linear_nb": (0.80, 0.11),
        "pairwise": (1.10, 0.30),
        "bruck": (0.90, 0.40),
    },
}


def synthetic_results() -> list[LaunchResult]:
    """2 collectives × 6 algorithms × 3 rank counts × 12 sizes × 6 launches.

    8 ranks are oversubscribed; linear did not converge at 64 B and failed at 4 MiB; basic_linear starts skewed at
    16 B; linear_nb's launches fall into two groups at 1 KiB.
    """
    random_numbers = random.Random(7)
    results = []
    for launch in range(1, LAUNCHES + 1):
        for collective, algorithms in ALGORITHMS.items():
            for text, (start, per_kib) in algorithms.items():
                algorithm = Algorithm.parse(f"openmpi/{text}")
                for ranks in RANKS:
                    for size in SIZES:
                        rounds = ceil(log2(ranks))
                        median = rounds * (start + per_kib * size / 1024) * random_numbers.uniform(0.985, 1.015)
                        if algorithm.name == "linear_nb" and size == 1024:
                            median *= 1 + launch % 2
                        cell = Cell(collective, algorithm, ranks, "core", size, "warm")
                        if algorithm.name == "linear" and size == SIZES[-1]:
                            results.append(LaunchResult(cell, launch, "desk", error="rank 1: <lost> its peer"))
                            continue
                        results.append(
                            timed(
                                cell,
                                launch,
                                median,
                                osu_avg_us=median * 0.9,
                                osu_min_us=median * 0.8,
                                osu_max_us=median,
                                skew_us=median * 0.01,
                                outlier_share=0.02,
                                converged=not (algorithm.name == "linear" and size == 64),
                                skewed=algorithm.name == "basic_linear" and size == 16,
                                oversubscribed=ranks == 8,
                                bimodal=algorithm.name == "linear_nb" and size == 1024,
                            )
                        )
    return results


def synthetic_header(title: str = "Broadcast and scatter") -> dict[str, Any]:
    return {
        "timpani": "0.1.0",
        "created": "2025-01-31T12:00:00+00:00",
        "study": {
            "title": title,
            "question": "How does the default compare with each algorithm?",
            "method": "timpani",
            "datatype": "uint8",
            "launches": LAUNCHES,
            "precision": 0.05,
            "budget_s": 120.0,
            "seed": 1,
            "collectives": {name: list(algorithms) for name, algorithms in ALGORITHMS.items()},
            "ranks": list(RANKS),
            "sizes": list(SIZES),
            "placement": "core",
            "mode": "warm",
        },
        "machine": {"name": "desk", "cpu": "Example CPU", "cores": 4, "sockets": 1, "kernel": "6.1"},
        "mpi": {"kind": "openmpi", "version": "5.0.11", "mpirun": "/opt/mpi/bin/mpirun"},
        "left_out": ["bcast openmpi/chain at 1 rank: it needs two"],
        "commands": ["timpani run demo -o campaign"],
    }


def synthetic_launches() -> list[dict[str, Any]]:
    return [
        {
            "launch": launch,
            "part": f"{launch:04d}-1",
            "command": ["mpirun", "-n", "2", "measure", f"launches/{launch:04d}-1/plan.txt"],
            "environment": {"OMPI_MCA_coll": "^han"},
            "started": "2025-01-31T12:00:00+00:00",
            "seconds": 3.5,
            "exit": 0,
            "clock_error_ns": 40.0 + launch,
            "timer_ns": 21.0,
            "null_ns": 30.0,
            "ranks": [{"rank": rank, "host": "desk", "cores": [rank]} for rank in range(2)],
        }
        for launch in range(1, LAUNCHES + 1)
    ]


def write_campaign(
    folder: Path, header: dict[str, Any], results: list[LaunchResult], launches: list[dict[str, Any]]
) -> Path:
    """A campaign folder as `timpani run` leaves it."""
    return campaign_files.write_campaign(folder, results, launches, **header)


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("report") / "campaign"
    return load(write_campaign(folder, synthetic_header(), synthetic_results(), synthetic_launches()))


def rendered_once(factory: pytest.TempPathFactory, name: str, campaign: Campaign) -> str:
    """The page, which one worker renders for all."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_text(render(campaign))
    return path.read_text()


@pytest.fixture(scope="session")
def html(campaign: Campaign, tmp_path_factory: pytest.TempPathFactory) -> str:
    return rendered_once(tmp_path_factory, "plain.html", campaign)


@pytest.fixture(scope="session")
def messages_campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("report") / "messages"
    return load(write_campaign(folder, message_header(), message_results(), message_launches()))


@pytest.fixture(scope="session")
def messages_html(messages_campaign: Campaign, tmp_path_factory: pytest.TempPathFactory) -> str:
    return rendered_once(tmp_path_factory, "messages.html", messages_campaign)


SETTING = "mpirun " + " ".join(f"--mca coll_tuned_parameter_{i} {i}" for i in range(12)) + " " + 200 * "x"


@pytest.fixture(scope="session")
def strange_html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of scatters on two placements, with a hostile title and long settings; `bruck` ties on 2 ranks."""
    header = synthetic_header(HOSTILE_TITLE)
    header["machine"]["name"] = header["study"]["question"] = HOSTILE_TITLE
    header["settings"] = {"scatter": dict.fromkeys(ALGORITHMS["scatter"], SETTING)}
    results = [
        replace(
            each,
            cell=replace(each.cell, placement=placement),
            median_us=float(each.launch)
            if each.cell.ranks == 2 and each.cell.algorithm.name in ("default", "bruck")
            else each.median_us,
        )
        for placement in ("category:1:2", "node")
        for each in synthetic_results()
        if each.cell.collective == "scatter"
    ]
    folder = tmp_path_factory.mktemp("report") / "strange"
    campaign = load(write_campaign(folder, header, results, synthetic_launches()))
    return rendered_once(tmp_path_factory, "strange.html", campaign)
