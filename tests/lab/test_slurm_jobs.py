"""A study as a job of a real Slurm, whose nodes are a lab's: submitted, followed, cut short and continued.

The last test loses a node."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.campaign.live import MAIN, SECONDS, keys, name_of, results, starts, timpani, wait_until
from tests.installed import FOUND, MPICHS, OPEN_MPIS, needs_mpi, needs_mpich, needs_open_mpi, rest
from tests.lab.conftest import Made, Make, needs_lab
from tests.programs.programs import CALLS, compile_program, environment
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.records import JOBS, read_records
from timpani.machine.lab.lab import LABS
from timpani.native.build import build
from timpani.programs.profile.profile_folder import read_profile
from timpani.tune.table_file import read_table

pytestmark = [needs_mpi, needs_lab]

STUDY = ("bcast", "--algorithms", "default", "--sizes", "8", "--slot", "2ms")


@pytest.fixture(scope="module")
def lab(make: Make) -> Made:
    made = make("--nodes", "6", "--cores", "4", "--groups", "2", "--link", "90mbit:100mbit", "--slurm")
    build(FOUND[0])  # its time is not the jobs'
    return made


def test_slurm_knows_the_nodes_and_the_switch_tree(lab: Made) -> None:
    assert lab.exec("n1", "sinfo", "--noheader", "--format=%D %t").stdout == "6 idle\n"
    topology = lab.exec("n4", "scontrol", "show", "topology").stdout
    assert [line.split()[0] for line in topology.splitlines()] == ["SwitchName=g1", "SwitchName=g2", "SwitchName=root"]


def test_a_partition_is_written_down_with_its_switches(lab: Made) -> None:
    done = lab.exec("n1", *MAIN, "machine", "detect", "--partition", "lab")
    assert done.returncode == 0, done.stderr
    assert '[[groups]]\nname = "g1"\nnodes = "n[1-3]"\ncores = 4\n' in done.stdout
    assert '[[groups]]\nname = "g2"\nnodes = "n[4-6]"\ncores = 4\n' in done.stdout
    wrong = lab.exec("n1", *MAIN, "machine", "detect", "--partition", "nolab")
    assert wrong.returncode == 2
    assert "Slurm knows no nodes of the partition 'nolab'" in wrong.stderr


def test_every_job_measures_on_other_nodes_whose_links_differ(lab: Made, tmp_path: Path) -> None:
    """Behind another switch, then on unused nodes, then at least on another pair; and the command resumes."""
    command = (*MAIN, "run", *STUDY, "--ranks", "2", "--placement", "node", "--on", "slurm:lab,nodes=2,jobs=4")
    done = lab.exec("n1", *command, "-o", "c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_records(tmp_path / "c", read_header(tmp_path / "c")).values(JOBS)
    by_job = {line["job"]: frozenset(line["nodes"]) for line in found}
    launches = [(line["job"], line["launch"]) for line in results(tmp_path / "c")]
    assert launches == [(job, 2 * index + more) for index, job in enumerate(by_job) for more in (1, 2)]
    for launch in starts(tmp_path / "c"):
        assert {rank["host"] for rank in launch["ranks"]} == by_job[launch["job"]]
    pairs = list(by_job.values())
    assert (pairs[0] < {"n1", "n2", "n3"}, pairs[1] < {"n4", "n5", "n6"}) == (True, True)
    assert len(frozenset().union(*pairs[:3])) == 6
    assert len(set(pairs)) == 4
    assert all(launch["binding_mistake"] is None for launch in starts(tmp_path / "c"))
    assert {line["machine"] for line in results(tmp_path / "c")} == {"lab"}
    assert "(2 of 4), not on n[1-3]; " in done.stderr
    assert "(4 of 4), which may share nodes with earlier jobs" in done.stderr
    again = lab.exec("n1", *command, "-o", "c", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "(4 of 4)" in again.stderr
    assert "(3 of 4)" not in again.stderr
    assert len(keys(tmp_path / "c")) == 8


def test_a_signaled_job_keeps_its_results_and_the_next_job_continues(lab: Made, tmp_path: Path) -> None:
    sizes = "2M,4M,6M,8M"
    long = ("bcast", "--algorithms", "default", "--sizes", sizes, "--precision", "0.00001", "--slot", "1s")
    command = (*MAIN, "run", *long, "--launches", "1", "--ranks", "2", "--on", "slurm:lab,nodes=1", "-o", "c")
    for earlier in range(1, 100):  # of a Slurm that counted from 1, as this one does
        (tmp_path / f"timpani-{earlier}.log").write_text("an earlier job\n")
    with lab.start("n1", *command, cwd=tmp_path, stderr=subprocess.PIPE) as following:
        wait_until(lambda: (tmp_path / "c" / "results.jsonl").exists() or following.poll() is not None)
        for pid in lab.processes():
            if name_of(pid) == "timpani-measure":
                os.kill(pid, signal.SIGSTOP)  # else it may end before it gets the signal
        [log] = tmp_path.glob("timpani-*-*.log")
        number = log.stem.split("-")[1]
        # What --signal=B:TERM@120 sends two minutes before the limit.
        ended = lab.exec("n1", "scancel", "--batch", f"--signal={signal.SIGTERM.name.removeprefix('SIG')}", number)
        assert ended.returncode == 0, ended.stderr
        _, said = following.communicate(timeout=SECONDS)
    assert following.returncode == 1, said
    assert said.splitlines()[-1] == f"job {number}: failed; the same command continues"
    assert "still missing; the same command continues" in said
    assert "an earlier job" not in said
    before = (tmp_path / "c" / "results.jsonl").read_bytes()
    again = lab.exec("n1", *command, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "c" / "results.jsonl").read_bytes().startswith(before)
    assert len(keys(tmp_path / "c")) == 4


@rest
@needs_open_mpi
def test_rules_from_two_jobs_are_confirmed_on_nodes_that_were_not_measured(lab: Made, tmp_path: Path) -> None:
    """The default sends a message to each rank of the other node, the algorithms one: the link makes them faster."""
    mpi = ("--mpi", str(OPEN_MPIS[0].mpirun))
    names = "default,timpani/two_level_chain,timpani/two_level"
    what = ("bcast", "--algorithms", names, "--sizes", "128Ki,256Ki", "--ranks", "8")
    where = ("--on", "slurm:lab,nodes=2,tasks=4,time=10")
    printed = lab.exec("n1", *MAIN, "tune", *what, *where, "-o", "tuned", "--dry-run", cwd=tmp_path)
    assert "#SBATCH --time=00:10:00" in printed.stdout
    assert printed.stdout.splitlines()[-1].endswith(f" tune {' '.join(what)} -o tuned --until rules --on here")
    assert list(tmp_path.iterdir()) == []
    in_jobs = (where[0], f"{where[1]},jobs=2")
    done = lab.exec("n1", *MAIN, "tune", *what, *mpi, *in_jobs, "-o", "tuned", "--until", "campaign", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = timpani("verdict", "tuned/campaign", cwd=tmp_path).stdout
    assert said.startswith("Verdict over 2 jobs (n[1-2,4-5], "), said
    assert "fine at 0 of 2 points; at 2 another algorithm is faster" in said
    assert timpani("tune", "tuned/campaign", "-o", "rules", cwd=tmp_path).returncode == 0
    assert read_table(tmp_path / "rules" / "table.json").rules

    confirm = ("confirm", "rules", *mpi, "--launches", "1", "--placement", "node", *where)
    done = lab.exec("n1", *MAIN, *confirm, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ", not on n[1-2,4-5]; " in done.stderr
    assert "measured in one job (n[3,6], " in done.stderr
    assert "Confirmation: " in done.stderr
    [confirmed] = (tmp_path / "rules").glob("confirmation-of-*-by-node")  # of as many rules as times ask for
    assert {line["machine"] for line in results(confirmed)} == {"lab"}
    assert {rank["host"] for launch in starts(confirmed) for rank in launch.get("ranks", ())} == {"n3", "n6"}


@needs_mpich
def test_srun_starts_mpich_across_nodes(lab: Made, tmp_path: Path) -> None:
    mpi = MPICHS[0]
    build(mpi)
    (tmp_path / "m.toml").write_text(
        f'name = "m"\nlauncher = "slurm"\nmpi = "{mpi.mpirun}"\n[[groups]]\nname = "g"\nnodes = "n[1-2]"\ncores = 2\n'
    )
    where = ("--placement", "node", "--on", "m.toml", "--trust", "m.toml", "-o", "c")
    words = (*MAIN, "run", *STUDY, "--launches", "1", *where)
    allocated = ("salloc", "--quiet", "--partition=lab", "--nodelist=n[1-2]", "--ntasks-per-node=2")
    done = lab.exec("n1", *allocated, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [launch] = starts(tmp_path / "c")
    assert launch["command"][0] == "srun"
    assert [rank["host"] for rank in launch["ranks"]] == ["n1", "n2"]


def test_a_program_is_profiled_and_confirmed_in_an_allocation(lab: Made, tmp_path: Path) -> None:
    """Its launcher takes the nodes from Slurm; each rank counts on its node, and one profile holds them all."""
    program = compile_program(FOUND[0], CALLS, tmp_path / "program")
    command = (str(FOUND[0].mpirun), "-n", "4", str(program))
    allocated = ("salloc", "--quiet", "--partition=lab", "--nodelist=n[1-2]", "--ntasks-per-node=2")
    done = lab.exec("n1", *allocated, *MAIN, "profile", "-o", "p", "--", *command, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    part = read_profile(tmp_path / "p").main_part
    assert sorted(rank.host for rank in part.ranks) == ["n1", "n1", "n2", "n2"]
    assert sum(part.calls_of(line) for line in part.calls if line.name == "bcast") == 4
    confirm = ("confirm", "--variant", "a: NOTHING=1", "--runs", "1", "--output", "runs", "--", *command)
    done = lab.exec("n1", *allocated, *MAIN, *confirm, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    assert "not yet known to be faster or slower" in done.stdout
    profiles = [read_profile(folder) for folder in (tmp_path / "runs" / "profiles").iterdir() if folder.is_dir()]
    assert [{rank.host for rank in each.main_part.ranks} for each in profiles] == 2 * [{"n1", "n2"}]


@needs_open_mpi
def test_a_campaign_survives_the_loss_of_a_node(lab: Made, tmp_path: Path) -> None:
    """Its job is queued again and resumes where it was. No result is lost or recorded twice."""
    study = ("bcast", "--algorithms", "default", "--sizes", "1Ki", "--slot", "5ms", "--launches", "4", "--ranks", "6")
    run = (*MAIN, "run", *study, "--mpi", str(OPEN_MPIS[0].mpirun), "--on", "slurm:lab,nodes=6,tasks=1", "-o", "c")
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
    assert len(keys(tmp_path / "c")) == 4
