"""Every test: a skip counts as missing where nothing may be left out."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.libraries import FOUND, label
from timpani.native.build import cache_folder
from timpani.native.find import Mpi

# The same sources are built into folders of several names, also by another user: one who can run this checkout's Python
# can read there.
if shutil.which("ccache"):
    os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    os.environ.setdefault("CCACHE_BASEDIR", str(cache_folder()))
    os.environ.setdefault("CCACHE_DIR", str(Path(__file__).parents[1] / "build" / "ccache"))

# How long an example takes is the machine's business: no test has a threshold of time.
settings.register_profile("unhurried", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=10_000)
settings.load_profile("unhurried")


@pytest.fixture(params=FOUND or (None,), ids=label, scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI library of this machine."""
    if request.param is None:
        pytest.skip("no MPI library on this machine")
    found: Mpi = request.param
    return found


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With TIMPANI_NOTHING_SKIPPED set (as in CI) a skipped test fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", ())) if reporter else 0
    allowed = (
        sum("may be skipped" in str(report.longrepr) for report in reporter.stats.get("skipped", ())) if reporter else 0
    )
    if os.environ.get("TIMPANI_NOTHING_SKIPPED") and skipped > allowed and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
