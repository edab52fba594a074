"""Studies on a machine file: this computer by its name, and by a name that its ranks don't know it by."""

import json
import platform
from pathlib import Path

import pytest

from tests.campaign.live import results, starts
from tests.cli.typed import typed
from tests.installed import FOUND, MPICHS, OPEN_MPIS, every_mpi, needs_mpi, needs_mpich, needs_open_mpi, needs_two_cores
from timpani.native.mpi import Mpi

pytestmark = [needs_mpi, needs_two_cores]

STUDY = ("bcast", "--algorithms", "default", "--sizes", "8,16", "--slot", "2ms", "--launches", "1")


def machine_file(folder: Path, mpi: Mpi, *nodes: str) -> Path:
    file = folder / "machine.toml"
    groups = (f'[[groups]]\nname = "{node}"\nnodes = "{node}"\ncores = 2\n' for node in nodes)
    file.write_text(f'name = "cluster"\nlauncher = "{mpi.kind}"\nmpi = "{mpi.mpirun}"\n' + "".join(groups))
    return file


@every_mpi
@pytest.mark.parametrize("placement", ["core", "node", "ppr:2"])
def test_ranks_run_where_the_machine_file_says(mpi: Mpi, placement: str, tmp_path: Path) -> None:
    here = platform.node()
    file = machine_file(tmp_path, mpi, here)
    done = typed("run", *STUDY, "--on", file, "--trust", file, "--placement", placement, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert {(line["machine"], line["placement"], line["error"]) for line in results(tmp_path / "c")} == {
        ("cluster", placement, None)
    }
    [launch] = starts(tmp_path / "c")
    assert [place["host"] for place in launch["asked"]] == [here, here]
    assert launch["binding_mistake"] is None
    assert (tmp_path / "c" / "launches" / launch["part"] / "hosts.txt").read_text().startswith(here)
    header = json.loads((tmp_path / "c" / "campaign.json").read_text())
    assert header["machine"]["hosts"] == [{"name": here, "slots": 2}]


@every_mpi
def test_ranks_elsewhere_end_the_launch_with_both_maps(mpi: Mpi, tmp_path: Path) -> None:
    file = machine_file(tmp_path, mpi, "localhost")
    done = typed("run", *STUDY, "--on", file, "--trust", file, "-o", tmp_path / "c")
    assert done.returncode == 2
    maps = f"requested localhost: 0-1; ran {platform.node()}: 0-1"
    assert maps in done.stderr.splitlines()[-1]
    [launch] = starts(tmp_path / "c")
    assert launch["binding_mistake"] == maps
    assert not (tmp_path / "c" / "results.jsonl").exists()
    machine_file(tmp_path, mpi, platform.node())
    again = typed("run", *STUDY, "--on", file, "--trust", file, "-o", tmp_path / "c")
    assert again.returncode == 0, again.stderr
    assert len(results(tmp_path / "c")) == 2


@every_mpi
def test_ranks_that_stay_on_the_first_node_are_reported_before_the_run(mpi: Mpi, tmp_path: Path) -> None:
    file = machine_file(tmp_path, mpi, "n1", "n2")
    done = typed("run", *STUDY, "--ranks", "2,4", "--on", file, "--trust", file, "--dry-run")
    assert "2 ranks by core all run on n1, the first of 2 nodes" in done.stdout.splitlines()
    (tmp_path / "hosts").write_text("n2\nn1\n")
    chosen = typed("run", *STUDY, "--on", file, "--trust", file, "--hosts", tmp_path / "hosts", "--dry-run")
    assert "2 ranks by core all run on n2, the first of 2 nodes" in chosen.stdout.splitlines()
    spread = typed("run", *STUDY, "--on", file, "--trust", file, "--placement", "node", "--dry-run")
    assert spread.returncode == 0
    assert "all run on" not in spread.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--on", "none.toml"), "machine file not found: none.toml"),
        (("--on", "machine.toml", "--ranks", "9"), "9 ranks are more than the 4 cores"),
        (("--on", "machine.toml", "--placement", "ppr:1", "--ranks", "3"), "3 ranks are more than the 2 cores"),
        (("--on", "machine.toml", "--placement", "ppr:0"), "'ppr:0' is not a placement"),
        (("--on", "machine.toml", "--hosts", "hosts"), "unknown node of cluster 'n3'"),
        (("--hosts", "hosts"), "--hosts chooses nodes of a machine, and no machine is named"),
        (("--on", "slurm:a b", "-o", "x"), "'a b' is not a partition"),
    ],
)
def test_unusable_machine_options_are_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    machine_file(tmp_path, FOUND[0], "n1", "n2")
    (tmp_path / "hosts").write_text("n3\n")
    done = typed("run", *STUDY, *arguments, "--trust", "machine.toml", "--dry-run", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


@needs_open_mpi
@needs_mpich
def test_another_library_than_the_machines_launcher_is_an_error(tmp_path: Path) -> None:
    file = machine_file(tmp_path, OPEN_MPIS[0], "n1")
    done = typed("run", *STUDY, "--on", file, "--trust", file, "--mpi", MPICHS[0].mpirun, "--dry-run")
    assert done.returncode == 2
    assert "cluster starts ranks with Open MPI's launcher, and MPICH " in done.stderr
