"""Job scripts: what each batch system is asked for, and what a user typed stays text in them."""

import os
import subprocess
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.machine.batch.batch_job import BatchJob
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, SCRIPTED, job_script

HOUR = 3600


def test_a_job_is_asked_for_in_one_text() -> None:
    assert BatchJob.parse("slurm:EPYC") == BatchJob("slurm", "EPYC")
    assert BatchJob.parse("pbs") == BatchJob("pbs")
    assert BatchJob.parse(
        "slurm:THIN,nodes=4,tasks=24,time=2-12,jobs=5,modules=openmpi/4.1.6+gcc,account=a1,qos=long,constraint=a&b"
    ) == BatchJob(
        *("slurm", "THIN", 4, 24, 60 * HOUR, 5, ("openmpi/4.1.6", "gcc")),
        account="a1",
        qos="long",
        constraint="a&b",
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 1800), ("30:15", 1815), ("2:00:00", 7200), ("1-2", 26 * HOUR), ("1-2:30", 26.5 * HOUR), ("0-0:0:5", None)],
)
def test_limits_are_read_as_slurm_reads_them(text: str, seconds: int | None) -> None:
    if seconds is None:
        with pytest.raises(UserError):
            BatchJob.parse(f"slurm:EPYC,time={text}")
        return
    assert BatchJob.parse(f"slurm:EPYC,time={text}").seconds == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slurm:a b", "'a b' is not a partition"),
        ("slurm:a\n#SBATCH --x", "is not a partition"),
        ("slurm:EPYC,nods=2", "did you mean nodes"),
        ("slurm:EPYC,nodes=0", "'0' can't be a job's nodes"),
        ("slurm:EPYC,time=$(id)", "can't be a job's time"),
        ("slurm:EPYC,modules=a;b", "can't be a job's modules"),
        ("slurm:EPYC,constraint=a\n#SBATCH --x", "can't be a job's constraint"),
    ],
)
def test_an_invalid_job_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        BatchJob.parse(text)
    assert said in str(caught.value)


def directives(script: str, sentinel: str = "#SBATCH ") -> list[str]:
    return [line.removeprefix(sentinel) for line in script.splitlines() if line.startswith(sentinel)]


def test_slurm_is_asked_for_whole_nodes_and_for_a_signal_before_the_limit() -> None:
    job = BatchJob.parse("slurm:EPYC,tasks=48,time=30,account=a1,qos=long,constraint=rome")
    script = job_script(job, ["timpani", "run", "demo", "-o", "d"], launches=10)
    assert {
        *("--partition=EPYC", "--nodes=2", "--ntasks-per-node=48", "--time=00:30:00", "--exclusive"),
        *("--signal=B:TERM@120", "--account=a1", "--qos=long", "--constraint=rome"),
    } <= set(directives(script))
    assert not [each for each in directives(script) if each.startswith("--array")]
    assert script.splitlines()[-1] == "exec timpani run demo -o d"


def test_pbs_is_asked_for_ranks_of_each_node_and_starts_where_it_was_submitted() -> None:
    job = BatchJob.parse("pbs:workq,nodes=3,tasks=48,time=90,jobs=2,account=a1,constraint=model=rome,modules=gcc")
    script = job_script(job, ["timpani", "run"], launches=10)
    assert directives(script, "#PBS ") == [
        *("-N timpani", "-q workq", "-A a1", "-l select=3:ncpus=48:mpiprocs=48:model=rome", "-l place=scatter:excl"),
        *("-l walltime=01:30:00", "-J 1-2%1", "-j oe"),
    ]
    lines = script.splitlines()
    assert lines.index('cd "$PBS_O_WORKDIR"') < lines.index("module load gcc") < len(lines) - 1
    assert "PBS_ARRAY_INDEX" in lines[-1]


def test_lsf_is_asked_for_ranks_in_all_and_for_minutes() -> None:
    job = BatchJob.parse("lsf:normal,nodes=3,tasks=48,time=90:01,jobs=2,account=a1,constraint=rome")
    assert directives(job_script(job, ["timpani"], None), "#BSUB ") == [
        *("-J timpani[1-2]%1", "-q normal", "-P a1", "-n 144", '-R "span[ptile=48]"', '-R "select[rome]"', "-x"),
        *("-W 1:31", "-wa TERM", "-wt 2", "-o timpani-%J_%I.log"),
    ]


def test_flux_is_asked_for_exclusive_nodes() -> None:
    job = BatchJob.parse("flux:batch,nodes=3,time=90,constraint=a|b")
    assert directives(job_script(job, ["timpani"], None), "#flux: ") == [
        *("--job-name=timpani", "--queue=batch", "--requires='a|b'", "--nodes=3", "--time-limit=5400s"),
        *("--output=timpani-{{id}}.log", "--signal=TERM@120s", "--exclusive"),
    ]


def test_every_batch_system_with_a_form_writes_a_script_that_bash_reads() -> None:
    for kind in SCRIPTED:
        script = job_script(BatchJob(kind, "q", tasks=4), ["timpani", "run", "demo"], None)
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
        assert script.splitlines()[-1] == "exec timpani run demo"
    assert set(BATCH_SYSTEMS) - set(SCRIPTED) == {"pals", "sge"}


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
def test_typed_arguments_reach_the_command_unchanged(word: str, tmp_path: Path) -> None:
    script = job_script(BatchJob("slurm", "EPYC"), ["timpani", "run", word, "-o", word], launches=1)
    assert run(script, tmp_path) == ["run", word, "-o", word]
    assert [path.name for path in tmp_path.iterdir()] == ["timpani"]


@pytest.mark.parametrize(("launches", "jobs"), [(10, 5), (10, 3), (2, 4), (7, 7)])
def test_the_jobs_of_an_array_share_the_launches(launches: int, jobs: int, tmp_path: Path) -> None:
    script = job_script(BatchJob("slurm", "EPYC", jobs=jobs), ["timpani", "run"], launches)
    assert f"--array=1-{jobs}%1" in directives(script)
    upto = [int(run(script, tmp_path, SLURM_ARRAY_TASK_ID=str(job))[-1]) for job in range(1, jobs + 1)]
    assert upto == sorted(upto)
    assert upto[-1] == launches
    assert all(0 <= after - before <= -(-launches // jobs) for before, after in zip([0, *upto], upto, strict=False))
