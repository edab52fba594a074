"""A campaign's folder: continued, never overwritten, and readable whatever happened to it."""

import errno
import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.live import SECONDS, keys, timpani
from tests.cli.typed import typed
from tests.installed import needs_mpi, needs_two_cores
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult, Proof
from timpani.campaign.folder.load import load
from timpani.campaign.folder.sealed import seal_object
from timpani.campaign.folder.store import Store
from timpani.errors import UserError
from timpani.machine.describe import MachineDescription
from timpani.study.cell import Algorithm, Cell
from timpani.study.study import Study

CELL = Cell("bcast", Algorithm("openmpi", "chain", (("fanout", 4),)), 2, "core", 8, "warm")
RESULT = LaunchResult(CELL, 1, "here", median_us=1.5)


def header(mpi: str = "4.1.4", machine: str = "here", command: str = "timpani run", **study: Any) -> Header:
    values = {"collectives": {"bcast": "all"}, "ranks": [2], "sizes": [8], "title": "Ein Größenvergleich", **study}
    return Header.new(
        study=Study.check(values, "test").model_dump(mode="json"),
        machine=MachineDescription(name=machine),
        mpi=RecordedMpi(kind="openmpi", version=mpi),
        command=command,
        left_out=[],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign with three results in launches 1 to 3."""
    path = tmp_path / "c"
    with Store(path, header()) as store:
        for launch in (1, 2, 3):
            store.add_result(replace(RESULT, launch=launch))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_continued_campaign_has_all_appended_results(folder: Path) -> None:
    with Store(folder, header()) as store:
        assert store.done == {(CELL, launch): None for launch in (1, 2, 3)}
        assert store.repaired == []
        store.add_result(replace(RESULT, launch=4, error="it died\nof «old age» \x1b[0m"))
        store.add_proof(Proof(CELL, ((0, 1), (0, 0)), ((0, 8), (0, 0))))
        assert store.proven == {CELL}
        assert store.succeeded() == {CELL}
    campaign = load(folder)
    assert campaign.results["launch"].to_list() == [1, 2, 3, 4]
    assert campaign.results["error"].to_list() == [None, None, None, "it died\nof «old age» \\x1b[0m"], "printable"
    assert campaign.proofs[0]["messages"] == [[0, 1], [0, 0]]
    assert campaign.header.study.title == "Ein Größenvergleich"


def test_it_may_be_continued_for_longer(folder: Path) -> None:
    longer = header(command="timpani run --launches 99", launches=99, budget="1h", title="other", question="why?")
    for _ in range(2):
        with Store(folder, longer) as store:
            assert len(store.done) == 3
    campaign = load(folder)
    assert campaign.header.study.launches == 99
    assert campaign.header.commands == ("timpani run", "timpani run --launches 99")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"sizes": [16]}, r"holds another study: sizes differs: \[8\] there, \[16\] now"),
        ({"seed": 7}, "seed differs: 1 there, 7 now"),
        ({"mpi": "5.0.11"}, "was measured with library version 4.1.4, and this is 5.0.11"),
        ({"machine": "there"}, "was measured with machine here, and this is there"),
    ],
)
def test_another_study_library_or_machine_is_refused(folder: Path, other: dict[str, Any], said: str) -> None:
    before = contents(folder)
    with pytest.raises(UserError, match=said):
        Store(folder, header(**other))
    assert contents(folder) == before
    with Store(folder, header()):  # the refused one left no lock
        pass


def test_a_folder_that_holds_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"holds thesis\.tex and is not a campaign; choose another folder with -o"):
        Store(tmp_path, header())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_remains_of_a_killed_creation_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "campaign.new").write_text('{"format": "timp')
    with Store(tmp_path, header()):
        pass
    assert not (tmp_path / "campaign.new").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "can't be trusted"),
        (b"[]", "it has no checksum"),
        (seal_object(b'{"format": "timpani-profile"}'), "is no file of a campaign"),
        (
            seal_object(b'{"format": "timpani-campaign", "version": 1, "id": "1", "study": []}'),
            r"study can't be \[\]",
        ),
        (
            seal_object(b'{"format": "timpani-campaign", "version": 1, "id": "1", "mpi": null}'),
            "mpi can't be None",
        ),
        (seal_object(b'{"format": "timpani-campaign", "version": 99}'), "has version 99, this Timpani reads 1"),
    ],
)
def test_a_strange_header_is_an_error_for_writer_and_reader(folder: Path, text: bytes, said: str) -> None:
    (folder / "campaign.json").write_bytes(text)
    for use in (lambda: Store(folder, header()), lambda: load(folder)):
        with pytest.raises(UserError, match=said) as caught:
            use()
        assert "\n" not in str(caught.value)
    assert (folder / "campaign.json").read_bytes() == text


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_torn_last_line_is_set_aside_by_a_run_and_an_error_for_readers(folder: Path, cut: int) -> None:
    path = folder / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    shown = typed("show", folder)
    assert shown.returncode == 2
    assert shown.stderr == (
        f"timpani: {path} line 3 can't be trusted: it is torn; "
        "the same `timpani run` command sets it aside, keeps the rest and continues\n"
    )
    with Store(folder, header()) as store:
        assert set(store.done) == {(CELL, 1), (CELL, 2)}
        [said] = store.repaired
    aside = folder / "launches" / "results.jsonl.refused-1"
    assert str(aside) in said
    assert path.read_bytes() + aside.read_bytes() == whole[:-cut]
    assert load(folder).results.height == 2


@pytest.mark.parametrize(
    "line",
    ["nonsense", "[]", "{}", "\x00" * 100, '{"collective": "bcast"}', json.dumps({**RESULT.as_line(), "more": 1})]
    + [json.dumps({**RESULT.as_line(), key: value}) for key, value in (("ranks", "two"), ("parameters", None))]
    + [json.dumps({**RESULT.as_line(), key: value}) for key, value in (("parameters", "?"), ("launch", []))],
)
def test_a_foreign_line_is_an_error_that_names_it(folder: Path, line: str) -> None:
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[1:], ""]))
    before = contents(folder)
    with pytest.raises(UserError, match=r"results\.jsonl line 2 can't be trusted: ") as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    assert contents(folder) == before
    with Store(folder, header()) as store:
        assert len(store.done) == 3
        assert len(store.repaired) == 2, "the line, and that those behind it had moved"
    assert load(folder).results.height == 3


def test_two_runs_at_once_are_refused(folder: Path) -> None:
    waiting = "import sys; from tests.campaign.folder.test_store import *; s = Store(Path(sys.argv[1]), header()); "
    with subprocess.Popen(
        [sys.executable, "-c", waiting + "print('open', flush=True); sys.stdin.read()", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(UserError, match="another timpani command is measuring into"):
            Store(folder, header(), lock_seconds=0)
        other.kill()
    with Store(folder, header()):  # the system lets go of a killed one's lock
        pass


def test_a_file_system_without_locks_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(UserError, match=r"without file locks \(No locks available\); measure into a folder on a local"):
        Store(folder, header())


def test_a_lock_file_that_is_removed_or_replaced_ends_the_run(folder: Path) -> None:
    before = (folder / "results.jsonl").read_bytes()
    for change, says in ((lambda lock: None, "removed"), (Path.touch, "replaced")):
        with Store(folder, header()) as store:
            lock = folder / "lock"
            lock.rename(folder / "taken")
            change(lock)
            with pytest.raises(UserError, match=rf"lock was {says} while this run held it; start the same command"):
                store.add_result(RESULT)
    assert (folder / "results.jsonl").read_bytes() == before


def test_a_lock_that_what_a_killed_run_started_holds_for_a_moment_is_waited_for(folder: Path) -> None:
    with Store(folder, header()):
        pass
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        started = subprocess.Popen(["sleep", "0.3"], pass_fds=[lock.fileno()])
    with Store(folder, header(), lock_seconds=SECONDS):
        assert started.wait(SECONDS) == 0


@pytest.mark.parametrize("name", ["x\udcff", "two\nlines"])
def test_a_name_that_can_not_be_printed_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="can't be printed"):
        Store(tmp_path / name, header())
    assert list(tmp_path.iterdir()) == []


@contextmanager
def as_another_user() -> Iterator[None]:
    """Without root's right to write everywhere; the files of this process stay root's."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_may_not_be_written_is_reported_before_anything_is_measured() -> None:
    # Not in tmp_path, which other users can't enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Store(folder / "c", header()) as store:
            store.add_result(RESULT)
        folder.chmod(0o555)
        (folder / "c").chmod(0o555)
        (folder / "c" / "lock").chmod(0o444)
        with as_another_user():
            for place in (folder / "c", folder / "new"):
                with pytest.raises(UserError, match=r"can't be written \(Permission denied\); choose a place"):
                    Store(place, header())
            assert load(folder / "c").results.height == 1
        (folder / "c" / "results.jsonl").chmod(0)
        with as_another_user(), pytest.raises(UserError, match=r"can't be read \(Permission denied\)"):
            load(folder / "c")
        (folder / "c").chmod(0)
        with as_another_user(), pytest.raises(UserError, match="can't be read"):
            load(folder / "c")
        folder.chmod(0o755)
        (folder / "c").chmod(0o755)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """`folder` as a file system of 512 KiB."""
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "timpani-test", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"mounting isn't allowed here: {mounted.stderr}")
    # Unmounted also when this process is killed, which closes the pipe, and while some rank still ends.
    keeper = subprocess.Popen(
        ["sh", "-c", 'cat; umount --lazy "$0"', folder], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        keeper.communicate()
    assert keeper.returncode == 0


def ballast(folder: Path) -> Path:
    """A file that leaves one page of the disk that `folder` is on."""
    path = folder / "ballast"
    path.write_bytes(bytes((shutil.disk_usage(folder).free // 4096 - 1) * 4096))
    return path


@needs_mpi
@needs_two_cores
@pytest.mark.parametrize("room", [0, 8, 40])
def test_a_full_disk_is_reported_and_the_same_command_continues(tmp_path: Path, room: int) -> None:
    """`room` pages are free when the second launch starts; it runs out at one place or another."""
    disk = tmp_path / "disk"
    # As many repetitions however busy the machine is: the raw samples of a launch take some 16 pages.
    fixed = ("--method", "osu", "-x", "1", "-i", "1000")
    study = ("run", "bcast", "--algorithms", "default", "--sizes", "8,16,32,64", *fixed, "-o", disk / "c")
    with small_disk(disk):
        assert typed(*study, "--launches", "1").returncode == 0
        before = (disk / "c" / "results.jsonl").read_bytes()
        filling = ballast(disk)
        os.truncate(filling, filling.stat().st_size - room * 4096)
        full = typed(*study, "--launches", "3")
        if full.returncode:
            assert full.returncode == 2
            assert "can't be written (No space left on device); make room, then" in full.stderr.splitlines()[-1]
        else:
            assert room > 16
        assert (disk / "c" / "results.jsonl").read_bytes().startswith(before)
        filling.unlink()
        again = typed(*study, "--launches", "3")
        assert again.returncode == 0, again.stderr
        assert len(keys(disk / "c")) == 12
        assert load(disk / "c").results["error"].null_count() == 12, "no cell is blamed for the disk"


@needs_mpi
@needs_two_cores
def test_a_limit_of_file_size_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    study = ("run", "bcast", "--algorithms", "default", "--sizes", "8,16", "--slot", "2ms", "-o", tmp_path / "c")
    assert typed(*study, "--launches", "1").returncode == 0
    before = (tmp_path / "c" / "results.jsonl").read_bytes()
    limited = timpani(
        *study, "--launches", "2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    )
    assert limited.returncode == 2
    assert "can't be written (File too large); make room, then" in limited.stderr.splitlines()[-1]
    assert (tmp_path / "c" / "results.jsonl").read_bytes() == before
    assert typed(*study, "--launches", "2").returncode == 0
    assert len(keys(tmp_path / "c")) == 4
