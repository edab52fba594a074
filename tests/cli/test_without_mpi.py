"""What needs no MPI library, on a machine without one."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import needs_compiler
from timpani.libraries.find import search_mpis
from timpani.native.build import build_without_mpi

pytestmark = needs_compiler

_TOOLS = ("as", "ld", "ar", "ranlib", "ccache", "cmake", "ninja", "sh")


@pytest.fixture(autouse=True)
def no_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but what builds programs is on PATH; the compiler is at one place for all tests, so that they share one
    build."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in _TOOLS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    monkeypatch.setenv("CXX", shutil.which("c++") or "")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert search_mpis() == []


def test_the_verifier_and_the_simulator_are_built_by_any_compiler() -> None:
    programs = build_without_mpi(None)
    built = {path.name for path in programs.iterdir() if os.access(path, os.X_OK)}
    assert built == {"timpani-verify", "timpani-simulate", "timpani-list", "timpani-rules-check"}


def test_algorithms_are_verified_and_drawn(tmp_path: Path) -> None:
    verified = typed("verify", "bcast/knomial", "--ranks", "1:8")
    assert (verified.returncode, verified.stdout.splitlines()[-1].partition(" at ")[0]) == (0, "1 algorithm")
    drawn = typed("draw", "bcast/knomial", "-o", tmp_path / "tree.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "tree.svg").stat().st_size > 0


def test_only_timpanis_algorithms_are_listed_without_a_library() -> None:
    listed = typed("list", "algorithms", "--format", "json")
    assert listed.returncode == 0
    assert {row["algorithm"].partition("/")[0] for row in json.loads(listed.stdout)} == {"timpani"}
    assert listed.stderr.startswith("no MPI library can be used here, so only Timpani's algorithms are listed; ")


def test_without_a_compiler_that_is_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX")
    refused = typed("verify", "bcast/knomial")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("timpani: no C++ compiler found; install what Debian calls g++")  # no apt on PATH


def test_measuring_needs_one() -> None:
    refused = typed("run", "bcast")
    assert refused.returncode == 2
    assert "no MPI library found on PATH" in refused.stderr
