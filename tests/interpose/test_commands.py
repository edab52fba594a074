"""From rules to a program that runs on them, by the commands that a user types."""

import json
import os
from pathlib import Path

import pytest

from tests.campaign.live import results, timpani
from tests.cli.typed import typed
from tests.installed import needs_mpi
from tests.interpose.conftest import rules
from timpani.native.cache import cache_folder
from timpani.native.mpi import Mpi

RULES = rules("bcast bytes=1024..1024 pipeline:segment_bytes=64  # 2.00 × or more")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path


def test_a_campaign_measures_rules_and_the_default(mpi: Mpi, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    asked = ("--algorithms", "default", "--sizes", "8,1Ki", "--launches", "1", "--slot", "5ms")
    study = ("bcast", *asked, "--oversubscribe", "--mpi", mpi.mpirun)
    done = typed("run", *study, "--rules", file, "-o", folder)
    assert done.returncode == 0, done.stderr
    found = {(line["provider"], line["algorithm"], line["message_bytes"]): line["error"] for line in results(folder)}
    assert found == {
        (provider, algorithm, size): None
        for provider, algorithm in ((mpi.kind, "default"), ("timpani", "rules"))
        for size in (8, 1024)
    }
    commands = [launch["command"] for launch in map(json.loads, (folder / "launches.jsonl").read_text().splitlines())]
    assert sorted(any("libtimpani.so" in word for word in command) for command in commands) == [False, True]
    file.write_bytes(RULES.replace("=64", "=128").replace("× or more", "\udcff").encode(errors="surrogateescape"))
    changed = typed("run", *study, "--rules", file, "-o", folder)
    assert (changed.returncode, "other rules" in changed.stderr) == (2, True)


def test_a_cell_fails_whose_rule_was_not_followed(mpi: Mpi, tmp_path: Path) -> None:
    """On 3 ranks, of an algorithm for even numbers of them; at 8 bytes no rule asks for it."""
    path, folder = tmp_path / "rules.txt", tmp_path / "c"
    path.write_text(rules("allgather bytes=1024.. neighbor_exchange"))
    study = ("allgather", "--algorithms", "default", "--sizes", "8,1Ki", "--launches", "1", "--slot", "5ms")
    options = ("--ranks", "3", "--oversubscribe", "--mpi", mpi.mpirun, "--rules", path, "-o", folder)
    typed("run", *study, *options)
    found = {(line["provider"], line["message_bytes"]): line["error"] for line in results(folder)}
    assert "rules not followed" in found.pop(("timpani", 1024))
    assert set(found.values()) == {None}


@needs_mpi
@pytest.mark.parametrize("name", ["a:b", "a$LIB"])
def test_a_path_that_the_loader_would_cut_is_refused(file: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(cache_folder().parent)
    done = timpani("preload", "--rules", file, "--", "true", env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / name)})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "set XDG_CACHE_HOME" in done.stderr
