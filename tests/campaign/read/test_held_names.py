"""A bundle says which names it holds, since whoever gets it can read them."""

from pathlib import Path

from tests.campaign_files import cell, results_of, start, write_campaign
from tests.cli.typed import typed


def test_a_bundle_says_which_hosts_users_and_folders_it_names(tmp_path: Path) -> None:
    launch = start(
        hosts=("wolf01", "wolf02"),
        started="2026-11-28T10:00:00+00:00",
        environment={"USER": "mallory"},
        command=["/home/eve/mpi/bin/mpirun"],
    )
    folder = write_campaign(
        tmp_path / "c",
        results_of({cell(): [1.0, None]}, error="no file /scratch/zoo/data/x in /usr/lib/mpi"),
        [launch],
        machine={"name": "here", "hosts": [{"name": "wolf03"}]},
        commands=["timpani run bcast -o /tmp/c"],
        id="c",
    )
    done = typed("bundle", folder, "-o", tmp_path / "c.zip")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "it names hosts (wolf01, wolf02, wolf03), users (eve, mallory) and folders (/home/eve/mpi, /scratch/zoo/data, "
        "/tmp/c): send it only to people who may know them"
    ]
