"""Job scripts: what each batch system is asked for, and what a user typed stays text in them."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.machine.batch.batch_system import BatchJob
from timpani.machine.batch.batch_systems import BATCH_SYSTEMS, SCRIPTED, job_script
from timpani.machine.batch.slurm_jobs import exclusions

HOUR = 3600


def test_a_job_is_asked_for_in_one_text() -> None:
    assert BatchJob.parse("slurm:EPYC") == BatchJob("slurm", "EPYC")
    assert BatchJob.parse("pbs") == BatchJob("pbs")
    assert BatchJob.parse(
        "slurm:THIN,nodes=4,tasks=24,time=2-12,jobs=5,modules=openmpi/4.1.6+gcc,account=a1,qos=long,constraint=a&b"
    ) == BatchJob(
        *("slurm", "THIN", 4, 24, 60 * HOUR, 5, ("openmpi/4.1.6", "gcc")), account="a1", qos="long", constraint="a&b"
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
    job = replace(BatchJob.parse("slurm:EPYC,tasks=48,time=30,account=a1,qos=long,constraint=rome"), excluded="n[1-2]")
    script = job_script(job, ["timpani", "run", "demo", "-o", "d"], notes=["Then: more"])
    assert {
        *("--partition=EPYC", "--nodes=2", "--ntasks-per-node=48", "--time=00:30:00", "--exclusive"),
        *("--signal=B:TERM@120", "--account=a1", "--qos=long", "--constraint=rome", "--exclude=n[1-2]"),
    } <= set(directives(script))
    assert "\n# Then: more\n" in script
    assert script.splitlines()[-1] == "exec timpani run demo -o d"


def test_pbs_is_asked_for_ranks_of_each_node_and_starts_where_it_was_submitted() -> None:
    job = BatchJob.parse("pbs:workq,nodes=3,tasks=48,time=90,jobs=2,account=a1,constraint=model=rome,modules=gcc")
    script = job_script(job, ["timpani", "run"], launches=2)
    assert directives(script, "#PBS ") == [
        *("-N timpani", "-q workq", "-A a1", "-l select=3:ncpus=48:mpiprocs=48:model=rome", "-l place=scatter:excl"),
        *("-l walltime=01:30:00", "-J 1-2%1", "-j oe"),
    ]
    lines = script.splitlines()
    assert lines.index('cd "$PBS_O_WORKDIR"') < lines.index("module load gcc") < len(lines) - 1
    assert "PBS_ARRAY_INDEX" in lines[-1]


def test_lsf_is_asked_for_ranks_in_all_and_for_minutes() -> None:
    job = BatchJob.parse("lsf:normal,nodes=3,tasks=48,time=90:01,jobs=2,account=a1,constraint=rome")
    assert directives(job_script(job, ["timpani"]), "#BSUB ") == [
        *("-J timpani[1-2]%1", "-q normal", "-P a1", "-n 144", '-R "span[ptile=48]"', '-R "select[rome]"', "-x"),
        *("-W 1:31", "-wa TERM", "-wt 2", "-o timpani-%J_%I.log"),
    ]


def test_flux_is_asked_for_exclusive_nodes() -> None:
    job = BatchJob.parse("flux:batch,nodes=3,time=90,constraint=a|b")
    assert directives(job_script(job, ["timpani"]), "#flux: ") == [
        *("--job-name=timpani", "--queue=batch", "--requires='a|b'", "--nodes=3", "--time-limit=5400s"),
        *("--output=timpani-{{id}}.log", "--signal=TERM@120s", "--exclusive"),
    ]


def test_every_batch_system_with_a_form_writes_a_script_that_bash_reads() -> None:
    for kind in SCRIPTED:
        script = job_script(BatchJob(kind, "q", tasks=4), ["timpani", "run", "demo"])
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


def test_each_job_of_an_array_adds_its_launches(tmp_path: Path) -> None:
    script = job_script(BatchJob("pbs", "q", tasks=4, jobs=3), ["timpani", "run"], launches=2)
    here = {"PBS_O_WORKDIR": str(tmp_path)}
    upto = [int(run(script, tmp_path, PBS_ARRAY_INDEX=str(job), **here)[-1]) for job in (1, 2, 3)]
    assert upto == [2, 4, 6]


@given(st.data())
def test_a_job_leaves_out_earlier_nodes_and_repeats_no_set_while_it_can(data: st.DataObject) -> None:
    nodes = [f"n{number}" for number in range(data.draw(st.integers(1, 9)))]
    count = data.draw(st.integers(1, len(nodes)))
    switches = {"left": nodes[: len(nodes) // 2], "right": nodes[len(nodes) // 2 :]}
    earlier: list[frozenset[str]] = []
    for _ in range(5):
        excluded = next(exclusions(count, nodes, switches, earlier), frozenset())
        left = sorted(set(nodes) - excluded)
        assert len(left) >= count
        assert len(set(nodes) - set().union(*earlier)) < count or set().union(*earlier) <= excluded
        if excluded:
            assert not any(each <= set(left) for each in earlier)
        earlier.append(frozenset(data.draw(st.permutations(left))[:count]))
