"""Every test: a skip counts as missing where nothing may be left out."""

import os
import shutil

import pytest
from hypothesis import settings

# The same sources are built for several programs and folders.
if shutil.which("ccache"):
    os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")

# How long an example takes is the machine's business: no test has a threshold of time.
settings.register_profile("unhurried", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=10_000)
settings.load_profile("unhurried")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With TIMPANI_NOTHING_SKIPPED set (as in CI) a skipped test fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", ())) if reporter else 0
    allowed = (
        sum("may be skipped" in str(report.longrepr) for report in reporter.stats.get("skipped", ())) if reporter else 0
    )
    if os.environ.get("TIMPANI_NOTHING_SKIPPED") and skipped > allowed and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
