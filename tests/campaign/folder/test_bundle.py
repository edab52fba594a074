"""A campaign as one file: the same campaign for whoever opens it, and nothing else is ever unpacked."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import timpani
from tests.campaign_files import cells, results_of, start, write_campaign
from tests.cli.typed import typed
from tests.installed import needs_mpi, needs_two_cores
from timpani.campaign.folder.bundle import SUFFIX, campaign_folder
from timpani.errors import UserError


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign and its bundle."""
    folder = tmp_path_factory.mktemp("packed")
    write_campaign(folder / "holt", results_of(cells({"default": {8: 10.0}, "ring": {8: 5.0}})), [start(1)])
    done = typed("bundle", folder / "holt", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def bundle(packed: Path, tmp_path: Path) -> Path:
    """The bundle, next to its campaign."""
    shutil.copytree(packed, tmp_path, dirs_exist_ok=True)
    return tmp_path / f"holt{SUFFIX}"


def test_commands_and_python_open_a_bundle_as_they_open_its_campaign(bundle: Path, tmp_path: Path) -> None:
    assert_frame_equal(timpani.open(bundle).cells, timpani.open(tmp_path / "holt").cells)
    for words in (("show",), ("verdict",), ("check",)):
        of_file, of_folder = typed(*words, bundle), typed(*words, tmp_path / "holt")
        assert of_file.returncode == of_folder.returncode == 0, of_file.stderr
    assert typed("show", bundle).stdout == typed("show", tmp_path / "holt").stdout
    with zipfile.ZipFile(bundle) as archive:
        assert b"<html" in archive.read("report.html")


def test_an_existing_bundle_is_replaced_only_by_force(bundle: Path, tmp_path: Path) -> None:
    before = bundle.read_bytes()
    refused = typed("bundle", tmp_path / "holt", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n"), bundle.read_bytes()) == (2, 1, before)
    assert typed("bundle", tmp_path / "holt", "--force", cwd=tmp_path).returncode == 0


@needs_mpi
@needs_two_cores
def test_raw_samples_are_packed_and_checked(tmp_path: Path) -> None:
    study = ("bcast", "--algorithms", "default", "--sizes", "8", "--slot", "2ms", "--launches", "1")
    assert typed("run", *study, "-o", tmp_path / "c").returncode == 0
    assert typed("bundle", tmp_path / "c", "-o", tmp_path / "one.zip").returncode == 0
    checked = typed("check", tmp_path / "one.zip")
    assert checked.returncode == 0, checked.stderr
    unpacked = campaign_folder(tmp_path / "one.zip")
    samples = [path.relative_to(unpacked) for path in unpacked.glob("launches/*/samples.jsonl.gz")]
    assert samples
    for each in samples:
        assert (unpacked / each).read_bytes() == (tmp_path / "c" / each).read_bytes()


def rewritten(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The bundle with other members."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return bundle


def adding(name: str, content: bytes = b"escaped") -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({name: content})


def edited(members: dict[str, bytes]) -> None:
    members["results.jsonl"] = members["results.jsonl"].replace(b"1", b"2", 1)


def removed(members: dict[str, bytes]) -> None:
    del members["results.jsonl"]


def no_campaign(members: dict[str, bytes]) -> None:
    members.clear()
    members["notes.txt"] = b"notes"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (adding("../escaped.txt"), "is no part of a campaign"),
        (adding("/tmp/escaped.txt"), "is no part of a campaign"),
        (adding("launches/0001-1/../../escaped.txt"), "is no part of a campaign"),
        (adding("launches/0001-1/output.txt", bytes(1 << 28)), "expands more than"),
        (edited, "was changed since it was packed"),
        (removed, "was changed since it was packed"),
        (adding("launches/0001-1/output.txt"), "was changed since it was packed"),
        (no_campaign, "holds no campaign"),
    ],
)
def test_an_archive_without_a_campaign_is_refused_in_one_line(
    bundle: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], reason: str
) -> None:
    done = typed("show", rewritten(bundle, change))
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert reason in done.stderr
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_link_is_refused(bundle: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive:
        link = zipfile.ZipInfo("launches/0001-1/output.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(UserError, match="is a link"):
        campaign_folder(bundle)


def test_a_truncated_or_damaged_file_is_refused(bundle: Path) -> None:
    whole = bundle.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"PK" + whole[10:], whole[:200] + bytes(50) + whole[250:]):
        bundle.write_bytes(damaged)
        with pytest.raises(UserError) as refused:
            campaign_folder(bundle)
        assert "\n" not in str(refused.value)


ENDING = """
import os, signal, sys
from timpani.campaign.folder import bundle
unpack, ending = bundle.unpack, int(sys.argv.pop(1))
def unpack_and_end(*given):
    unpack(*given)
    os.kill(os.getpid(), ending)
bundle.unpack = unpack_and_end
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started by nohup
from timpani.cli import main
main()
"""


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGKILL])
def test_an_ended_command_leaves_nothing_or_the_next_one_removes_it(
    bundle: Path, tmp_path: Path, ending: signal.Signals
) -> None:
    temporary = tmp_path / "t"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    ended = [sys.executable, "-c", ENDING, str(int(ending)), "verdict", str(bundle)]
    status = subprocess.run(ended, env=environment, check=False).returncode
    assert status in (-ending, 128 + ending)
    assert any(temporary.iterdir()) == (ending == signal.SIGKILL)
    whole = [sys.executable, "-c", "from timpani.cli import main; main()", "verdict", str(bundle)]
    subprocess.run(whole, env=environment, check=True)
    assert not any(temporary.iterdir())
