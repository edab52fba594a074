"""`timpani run` as a user runs it: what it says before, while and after it measures."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.campaign.live import results, timpani
from tests.cli.typed import typed
from tests.installed import each_kind, needs_mpi, needs_two_cores
from timpani.native.mpi import Mpi

ONE = ("bcast", "--algorithms", "default", "--sizes", "8", "--slot", "2ms", "--launches", "1")


@needs_mpi
def test_a_dry_run_of_a_race_says_the_least_and_the_most(tmp_path: Path) -> None:
    study = ("bcast", "--sizes", "1:1Ki", "--regret", "2%", "--oversubscribe")
    done = typed("run", *study, "--dry-run", "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    about = r"at least about .+ \(if few launches .+\), at most about .+ \(if no algorithm is dropped .+\)"
    assert re.fullmatch(rf"at most \d+ cells × 32 launches on .+: 32 starts .+, {about}", first)


@each_kind
def test_a_dry_run_prints_cells_launches_time_and_commands_and_does_nothing(mpi: Mpi, tmp_path: Path) -> None:
    study = ("bcast", "scatter", "--sizes", "1:1Ki", "--ranks", "2,3", "--oversubscribe", "--launches", "9")
    done = typed("run", *study, "--algorithms", "all", "--dry-run", "--mpi", mpi.mpirun, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert re.fullmatch(rf"\d+ cells × 9 launches on {re.escape(str(mpi))}: 18 starts of the MPI program, .+", first)
    assert re.search(r"about (\d+ s|\d+ min \d+ s)$", first)
    blocks = "\n".join(rest).strip().split("\n\n")
    assert len(blocks) == 2
    counts = 0
    for block in blocks:
        head, *collectives, command = block.splitlines()
        match = re.fullmatch(
            r"(?P<ranks>[23]) ranks by core(, oversubscribed)?, uint8: (?P<cells>\d+) cells a launch", head
        )
        assert match, head
        counts += int(match["cells"])
        assert [line.split(":")[0] for line in collectives] == ["  bcast", "  scatter"]
        assert all(line.endswith("; 11 sizes from 1 B to 1 KiB") for line in collectives)
        words = shlex.split(command)
        assert str(mpi.mpirun) in words
        assert match["ranks"] in words
        assert words[-3:] == ["timpani-measure", "plan.txt", "samples.jsonl"]
    assert first.startswith(f"{counts} cells")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bcast", "-n", "abc", "--dry-run"), "'abc' is not a rank count; write for example 2,4,8"),
        (("missing.toml", "--dry-run"), "study file not found: missing.toml"),
        (("bcast", "--sizes", "8x", "--dry-run"), "the command line: '8x' is not a size"),
        (("bcast", "--precision", "nan", "--dry-run"), "the command line: precision can't be "),
        (("bcast", "--ranks", "100000", "--dry-run"), "100000 ranks are more than the "),
        (("bcast", "--algorithms", "rong", "--oversubscribe", "--dry-run"), "'rong'; "),
        (("bcast", "--mpi", "/nowhere", "--dry-run"), "not found: /nowhere"),
        (("bcast", "--hang-after", "soon", "-o", "x"), "'soon' is not a duration"),
        (("bcast", "--oversubscribe", "-o", "/proc/x"), "/proc/x can't be written"),
    ],
)
@needs_mpi
def test_unusable_arguments_are_one_line_and_status_2(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = typed("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("timpani: ")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@needs_mpi
@needs_two_cores
def test_a_batch_log_has_lines_with_times_and_an_estimate(tmp_path: Path) -> None:
    done = timpani("run", *ONE, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d ", line) for line in lines)
    assert lines[0].split(" ", 1)[1] == "1 result to measure, 1 s to 4 s for all"
    assert "\x1b" not in done.stderr
    assert done.stdout.splitlines()[-1] == (f"read on: timpani show {tmp_path / 'c'}, timpani report {tmp_path / 'c'}")


@needs_two_cores
@each_kind
def test_user_text_is_never_interpreted(mpi: Mpi, tmp_path: Path) -> None:
    study = tmp_path / "a $(touch study) study.toml"
    study.write_text(
        'title = "$(touch title) `touch title` <b>[bold]"\n'
        'ranks = [2]\nsizes = [8]\nslot = "2ms"\nlaunches = 1\n[collectives]\nbcast = "default"\n'
    )
    name = "a; touch $(touch folder) '[red]' \"x\" é"
    done = timpani("run", study, "--mpi", mpi.mpirun, "-o", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {study.name, name}
    assert len(results(tmp_path / name)) == 1
    show = done.stdout.splitlines()[-1].removeprefix("read on: ").partition(", timpani report")[0]
    assert shlex.split(show) == ["timpani", "show", name]


@contextmanager
def nobody(tmp: str) -> Iterator[tuple[str, ...]]:
    """A prefix that runs a command as a user without rights, with another home; skips where that can't be."""
    if os.geteuid() != 0:
        pytest.skip("may be skipped: only root becomes another user")
    setpriv = shutil.which("setpriv")
    prefix = (setpriv or "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    Path(tmp).chmod(0o777)
    needed = (
        "import subprocess, timpani.native.compiler as b; subprocess.run([b.tool('cmake'), '--version'], check=True)"
    )
    tried = [*prefix, sys.executable, "-c", needed]
    if setpriv is None or subprocess.run(tried, capture_output=True, check=False, cwd=tmp).returncode:
        pytest.skip("may be skipped: another user can't run this Python")
    yield prefix


@needs_mpi
@needs_two_cores
def test_a_user_without_rights_measures_without_roots_warnings() -> None:
    with tempfile.TemporaryDirectory() as home, nobody(home) as prefix:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        compiled_before = {"CCACHE_BASEDIR": home, "CCACHE_READONLY": "1", "CCACHE_TEMPDIR": f"{home}/ccache"}
        done = subprocess.run(
            [*prefix, sys.executable, "-c", "from timpani.cli import main; main()", "run", *ONE, "-o", "c"],
            capture_output=True,
            text=True,
            check=False,
            cwd=home,
            env={**environment, "HOME": home, **compiled_before},
        )
        assert done.returncode == 0, done.stderr
        assert "root" not in done.stderr.lower()
        assert (Path(home) / ".cache" / "timpani").is_dir()
        [result] = results(Path(home) / "c")
        assert result["error"] is None
        assert "ALLOW_RUN_AS_ROOT" not in (Path(home) / "c" / "launches.jsonl").read_text()


@needs_mpi
@needs_two_cores
def test_a_campaign_without_a_folder_goes_into_one_of_today(tmp_path: Path) -> None:
    done = timpani("run", *ONE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.iterdir()
    assert re.fullmatch(r"bcast-\d{4}-\d{2}-\d{2}", folder.name)
    assert f"measuring into {folder.name}" in done.stderr
    assert results(folder)
