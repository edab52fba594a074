"""Job scripts: what Slurm is asked for, and what a user typed stays text in them."""

import os
import subprocess
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.machine.launchers.slurm_job import SlurmJob, job_script, loaded_modules


def test_a_job_is_asked_for_in_one_text() -> None:
    assert SlurmJob.parse("EPYC") == SlurmJob("EPYC")
    assert SlurmJob.parse("THIN,nodes=4,tasks=24,time=2-12,jobs=5,modules=openmpi/4.1.6+gcc") == SlurmJob(
        "THIN", 4, 24, "2-12", 5, ("openmpi/4.1.6", "gcc")
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is not a partition"),
        ("a b", "'a b' is not a partition"),
        ("a\n#SBATCH --x", "is not a partition"),
        ("EPYC,nods=2", "did you mean nodes"),
        ("EPYC,nodes=0", "'0' can't be a job's nodes"),
        ("EPYC,nodes=2;id", "can't be a job's nodes"),
        ("EPYC,time=$(id)", "can't be a job's time"),
        ("EPYC,modules=a;b", "can't be a job's modules"),
    ],
)
def test_what_is_no_job_is_an_error(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        SlurmJob.parse(text)
    assert said in str(caught.value)


def directives(script: str) -> list[str]:
    return [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH")]


def test_one_job_asks_for_whole_nodes_and_for_a_signal_before_its_limit() -> None:
    script = job_script(SlurmJob.parse("EPYC,tasks=48,time=30"), ["timpani", "run", "demo", "-o", "d"], launches=10)
    asked = directives(script)
    assert {"partition=EPYC", "nodes=2", "ntasks-per-node=48", "time=30", "exclusive", "signal=B:TERM@120"} <= set(
        asked
    )
    assert not [each for each in asked if each.startswith("array")]
    assert script.splitlines()[-1] == "exec timpani run demo -o d"


def run(script: str, folder: Path, **variables: str) -> list[str]:
    """The words that the script's last command gets, a stand-in for `timpani` in place of the real one."""
    (folder / "timpani").write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    (folder / "timpani").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash"], input=script, capture_output=True, text=True, check=True, cwd=folder, env={"PATH": path, **variables}
    )
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize(
    "word", ["$(touch x)", "a b", "'", '"; touch x; "', "\n#SBATCH --nodes=99\n", "`touch x`", "é*"]
)
def test_what_a_user_typed_reaches_the_command_as_it_is(word: str, tmp_path: Path) -> None:
    script = job_script(SlurmJob("EPYC"), ["timpani", "run", word, "-o", word], launches=1)
    assert run(script, tmp_path) == ["run", word, "-o", word]
    assert [path.name for path in tmp_path.iterdir()] == ["timpani"]


@pytest.mark.parametrize(("launches", "jobs"), [(10, 5), (10, 3), (2, 4), (7, 7)])
def test_the_jobs_of_an_array_share_the_launches(launches: int, jobs: int, tmp_path: Path) -> None:
    script = job_script(SlurmJob("EPYC", jobs=jobs), ["timpani", "run"], launches)
    assert f"array=1-{jobs}%1" in directives(script)
    upto = [int(run(script, tmp_path, SLURM_ARRAY_TASK_ID=str(job))[-1]) for job in range(1, jobs + 1)]
    assert upto == sorted(upto)
    assert upto[-1] == launches
    assert all(0 <= after - before <= -(-launches // jobs) for before, after in zip([0, *upto], upto, strict=False))


def test_the_modules_of_the_shell_are_those_that_are_loaded() -> None:
    assert loaded_modules({"LOADEDMODULES": "gcc/12:openmpi/4.1.6"}) == ("gcc/12", "openmpi/4.1.6")
    assert loaded_modules({"LOADEDMODULES": ""}) == loaded_modules({}) == ()
