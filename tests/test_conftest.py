"""What makes a run of the tests fail where they run on workers: a test that ends one, and a test that is skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed import rest
from timpani.errors import UserError
from timpani.native.build import build_without_mpi

pytestmark = rest

ROOT = Path(__file__).parents[1]


def run(folder: Path, tests: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A file of tests under our conftest, on a worker."""
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "test_few.py").write_text(f"import os\nimport pytest\n\n{tests}")
    without = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TIMPANI_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1"],
        cwd=folder,
        env={**without, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_ends_its_worker_fails_once_and_the_others_run(tmp_path: Path) -> None:
    tests = "def test_a(): pass\ndef test_b(): os._exit(3)\ndef test_c(): pass\n"
    done = run(tmp_path, tests)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "crashed while running 'test_few.py::test_b'" in done.stdout
    assert "1 failed, 2 passed" in done.stdout


def test_a_skip_counts_as_missing_where_nothing_may_be(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_a(): pytest.skip('no such library')\n", TIMPANI_NOTHING_SKIPPED="1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 skipped" in done.stdout


def test_a_test_without_the_mark_needs_builds_nothing() -> None:
    with pytest.raises(UserError, match="mark it needs_compiler or needs_mpi"):
        build_without_mpi(None)
