"""A real Slurm in a lab: jobs run to their end, also when a node is lost on the way."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.campaign.live import MAIN, SECONDS, keys, wait_until
from tests.installed import OPEN_MPIS, needs_open_mpi
from tests.lab.conftest import Made, Make, needs_lab
from timpani.machine.lab.lab import LABS

pytestmark = [needs_open_mpi, needs_lab]


@pytest.fixture(scope="module")
def lab(make: Make) -> Made:
    return make("--nodes", "4", "--cores", "2", "--groups", "2", "--uplink", "250mbit", "--slurm")


def test_slurm_knows_the_nodes_and_the_switch_tree(lab: Made) -> None:
    assert lab.exec("n1", "sinfo", "--noheader", "--format=%D %t").stdout == "4 idle\n"
    topology = lab.exec("n4", "scontrol", "show", "topology").stdout
    assert [line.split()[0] for line in topology.splitlines()] == ["SwitchName=g1", "SwitchName=g2", "SwitchName=root"]


def test_a_job_starts_a_program_on_every_node(lab: Made, tmp_path: Path) -> None:
    script = f"#!/bin/sh\n{OPEN_MPIS[0].mpirun} --map-by slot:OVERSUBSCRIBE --bind-to none hostname\n"
    asked = ("--wait", "--nodes=4", "--ntasks-per-node=2", "--output=log")
    done = lab.exec("n1", "sbatch", *asked, input=script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted((tmp_path / "log").read_text().split()) == ["n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4"]


def test_a_campaign_survives_the_loss_of_a_node(lab: Made, tmp_path: Path) -> None:
    """Its job is queued again and resumes where it was. No result is lost or recorded twice."""
    study = ("bcast", "--algorithms", "default", "--sizes", "1Ki", "--slot", "5ms", "--launches", "2", "--ranks", "4")
    run = (*MAIN, "run", *study, "--mpi", str(OPEN_MPIS[0].mpirun), "--on", "slurm:lab,nodes=4,tasks=1", "-o", "c")
    recorded = tmp_path / "c" / "results.jsonl"
    with lab.start("n1", *run, cwd=tmp_path, stderr=subprocess.STDOUT) as running:
        wait_until(lambda: (recorded.exists() and recorded.read_text()) or running.poll() is not None)
        kept = recorded.read_text()
        os.kill(int((LABS / lab.id / "slurmd-n3.pid").read_text()), signal.SIGKILL)
        wait_until(lambda: lab.exec("n1", "sinfo", "--noheader", "--nodes=n3", "--format=%t").stdout.startswith("down"))
        lab.exec("n3", "slurmd", "-N", "n3")
        said, _ = running.communicate(timeout=SECONDS)
    assert running.returncode == 0, said
    assert "DUE TO NODE FAILURE" in said
    assert recorded.read_text().startswith(kept)
    assert len(keys(tmp_path / "c")) == 2
