"""`timpani hostfile`, `machine` and `script` as a user runs them."""

import platform
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign_files import cells, results_of, write_campaign, write_lines
from tests.cli.typed import typed
from tests.installed import needs_mpi

FOUR = "".join(f'[[groups]]\nname = "g{n}"\nnodes = "{c}[1-2]"\ncores = 4\n' for n, c in enumerate("abcd", 1))


@pytest.fixture
def on(tmp_path: Path) -> tuple[str, Path]:
    file = tmp_path / "machine.toml"
    file.write_text(f'name = "m"\nlauncher = "openmpi"\n{FOUR}')
    return "--on", file


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("--category", "3", "--groups", "4", "--nodes", "8"), "a1 b1 c1 d1 a2 b2 c2 d2"),
        (("--groups", "2", "--nodes", "2", "--slots", "8"), "a1 slots=8 b1 slots=8"),
        (("--groups", "1", "--syntax", "mpich"), "a1:4 a2:4"),
        (("--category", "2", "--exclude", "a[1-2],c1,d[1-2]"), "b1 b2 c2"),
    ],
)
def test_host_files(arguments: tuple[str, ...], printed: str, on: tuple[str, Path]) -> None:
    done = typed("hostfile", *on, *arguments)
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stdout.splitlines()) == printed


@needs_mpi
def test_this_computer_is_written_down_and_can_be_measured_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    done = typed("machine", "detect")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(done.stdout)["groups"][0]["nodes"] == platform.node()
    (tmp_path / "here.toml").write_text(done.stdout)
    planned = typed("run", "bcast", "--ranks", "1", "--on", tmp_path / "here.toml", "--dry-run")
    assert planned.returncode == 0, planned.stderr


def test_a_script_runs_the_same_command_on_what_the_job_gets(tmp_path: Path) -> None:
    words = ("bcast", "--sizes", "8", "--launches", "4", "-o", "a b")
    done = typed("script", *words, "--on", "slurm:EPYC,nodes=4,jobs=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --partition=EPYC\n#SBATCH --nodes=4\n" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.endswith(" run bcast --sizes 8 --launches 4 -o 'a b' --on here --launches 4")
    assert "submits 2 jobs one after another, each on other nodes and with 4 more" in done.stdout
    # `run --dry-run` shows what would be submitted.
    shown = typed("run", *words, "--on=slurm:EPYC,nodes=4,jobs=2", "--dry-run", cwd=tmp_path)
    assert shown.stdout == done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bcast", "-o", "c"), "a job script is for a batch system; name one: --for slurm:PARTITION"),
        (("bcast", "--on", "slurm:EPYC,nods=1", "-o", "c"), "did you mean nodes"),
        (("bcast", "--for", "slurm:a", "--on", "pbs:b", "-o", "c"), "--for and --on both name a place"),
    ],
)
def test_a_script_that_would_fail_is_not_printed(arguments: tuple[str, ...], said: str) -> None:
    done = typed("script", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_without_slurm_a_submission_says_so(tmp_path: Path) -> None:
    done = typed("run", "bcast", "--on", "slurm:EPYC", "-o", "c", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "there is no sbatch here; Slurm's commands work from its login and compute nodes only" in done.stderr


def test_the_history_of_a_machine_is_shown_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    folders = []
    for number, factor in enumerate((1.0, 1.1, 0.9)):
        times = cells({"default": {8: 10.0}, "ring": {8: 5.0 * factor}})
        in_job = [replace(each, job=f"job {number}") for each in results_of(times)]
        folders.append(write_campaign(tmp_path / str(number), in_job))
        about = {"machine": "here", "system": "Slurm", "name": "t", "nodes": ["n1"], "switches": []}
        write_lines(folders[-1] / "jobs.jsonl", [{"job": f"job {number}", "started": "2026-11-28T12:00Z", **about}])
    done = typed("machine", "history", *folders)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 jobs until 2026-11-28" in done.stdout
    assert "3 runs until 2026-11-28" in typed("verdict", folders[0]).stdout.replace("jobs", "runs")
    alone = typed("machine", "history", folders[0])
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr.startswith("timpani: no two algorithms were measured together in two jobs; ")
